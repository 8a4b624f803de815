//===- CommunicationTest.cpp - the proof on lists made by hand ------------===//
//
// Programs that differ within a stage, assignments that do not fit, and the
// time of the proof for thousands of ranks.
//
//===----------------------------------------------------------------------===//

#include "dtc/Communication/Communication.h"
#include "dtc/Runtime/ABI.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <gtest/gtest.h>

using namespace dtc;

namespace {

/// Builds the events of one rank; each has its own bytes of one buffer.
class ProgramBuilder {
public:
  ProgramBuilder(CommunicationProgram &program, int64_t stage)
      : program(program) {
    program.stage = stage;
    program.numBuffers = 1;
  }

  ProgramBuilder &send(int32_t stage, int32_t tag, int32_t slot) {
    Event event = makeMessage(EventKind::Send, stage, tag);
    event.slot = slot;
    program.add(event, {{0, 0, 64}});
    return *this;
  }
  /// Each receive in flight has bytes of its own.
  ProgramBuilder &recv(int32_t stage, int32_t tag, int32_t slot) {
    Event event = makeMessage(EventKind::Recv, stage, tag);
    event.slot = slot;
    int64_t begin = 1024 + 64 * int64_t(slot);
    program.add(event, {{0, begin, begin + 64, -1, true}});
    return *this;
  }
  ProgramBuilder &wait(int32_t slot) {
    Event event;
    event.kind = EventKind::Wait;
    event.slot = slot;
    program.add(event, {});
    return *this;
  }
  ProgramBuilder &allReduce(int32_t group, int32_t slot = -1,
                            int64_t offset = 128) {
    Event event;
    event.kind = EventKind::Collective;
    event.collective = CollectiveKind::AllReduce;
    event.dtype = DTC_F32;
    event.reduction = DTC_SUM;
    event.group = group;
    event.slot = slot;
    event.count = 16;
    program.add(event,
                {{0, offset, offset + 64}, {0, offset, offset + 64, -1, true}});
    return *this;
  }

private:
  static Event makeMessage(EventKind kind, int32_t stage, int32_t tag) {
    Event event;
    event.kind = kind;
    event.stage = stage;
    event.tag = tag;
    event.dtype = DTC_F32;
    event.count = 16;
    return event;
  }

  CommunicationProgram &program;
};

/// A system of pp x dp ranks, with groups over pp and dp.
CommunicationSystem makeSystem(int64_t pp, int64_t dp) {
  CommunicationSystem system;
  system.axes = {{"pp", pp}, {"dp", dp}};
  system.groups = {{0}, {1}};
  system.numMessageSlots = DTC_MAX_MESSAGE_SLOTS;
  system.numSlots = DTC_MAX_MESSAGE_SLOTS + DTC_MAX_COLLECTIVE_SLOTS;
  system.assignPrograms();
  return system;
}

std::string verify(const CommunicationSystem &system) {
  std::optional<CommunicationError> error = verifyCommunication(system);
  return error ? error->culprit.message : "";
}

TEST(Communication, RanksOfOneStageMayDiffer) {
  // Rank 1 reduces over dp like rank 0, in its own program.
  CommunicationSystem system = makeSystem(1, 2);
  system.programs.resize(2);
  ProgramBuilder(system.programs[0], 0).allReduce(1);
  ProgramBuilder(system.programs[1], 0).allReduce(1);
  system.programOf = {0, 1};
  EXPECT_EQ(verify(system), "");
  // Rank 1 does not reduce.
  system.programs[1].events.clear();
  EXPECT_EQ(verify(system), "never happens: rank 0 waits here for rank 1, "
                            "which has finished");
}

TEST(Communication, MembersOfOneStageHaveTheSameBuffers) {
  CommunicationSystem system = makeSystem(1, 2);
  system.programs.resize(2);
  ProgramBuilder(system.programs[0], 0)
      .allReduce(1, -1, 128)
      .allReduce(1, -1, 256);
  ProgramBuilder(system.programs[1], 0)
      .allReduce(1, -1, 256)
      .allReduce(1, -1, 128);
  system.programOf = {0, 1};
  EXPECT_EQ(verify(system), "on rank 1 meets another collective on rank 0: "
                            "their buffers differ");
}

TEST(Communication, StartedCollectivesAreInOneQueue) {
  // A stage reduces over dp alone, before or after it meets the other.
  CommunicationSystem system = makeSystem(2, 2);
  system.programs.resize(2);
  ProgramBuilder(system.programs[0], 0)
      .allReduce(0, 4096, 128)
      .allReduce(1, 4097, 256)
      .wait(4096)
      .wait(4097);
  ProgramBuilder(system.programs[1], 1)
      .allReduce(1, 4097, 256)
      .allReduce(0, 4096, 128)
      .wait(4097)
      .wait(4096);
  EXPECT_EQ(verify(system), "");
  // Two communicators of both stages, each first on one of them: no rank waits
  // for the started collectives, but they execute one by one.
  system.groups[1] = {0, 1};
  EXPECT_EQ(verify(system), "never happens: ranks wait for each other in a "
                            "cycle, rank 0 here");
  // Ranks that wait at once are refused, too.
  system.groups[1] = {1};
  for (CommunicationProgram &program : system.programs)
    program = {};
  ProgramBuilder(system.programs[0], 0).allReduce(0).send(1, 0, 0).wait(0);
  ProgramBuilder(system.programs[1], 1).recv(0, 0, 0).wait(0).allReduce(0);
  EXPECT_EQ(verify(system), "never happens: ranks wait for each other in a "
                            "cycle, rank 0 here");
}

TEST(Communication, WhoIsMetDoesNotArriveAgain) {
  // All three start a collective. When it is done, both ends of a message
  // become the heads of their queues at the same time.
  CommunicationSystem system = makeSystem(3, 1);
  system.programs.resize(3);
  auto build = [&](int64_t stage) {
    ProgramBuilder builder(system.programs[stage], stage);
    builder.allReduce(0, 4096, 128);
    if (stage == 0)
      builder.send(1, 0, 0);
    if (stage == 1)
      builder.recv(0, 0, 0);
    return builder;
  };
  auto finish = [](ProgramBuilder builder, int64_t stage) {
    builder.wait(4096);
    if (stage < 2)
      builder.wait(0);
  };
  for (int64_t stage : {0, 1, 2})
    finish(build(stage).allReduce(0, 4097, 256).wait(4097), stage);
  EXPECT_EQ(verify(system), "");
  // The last stage takes no part in the second: the others do not replace it.
  for (CommunicationProgram &program : system.programs)
    program = {};
  for (int64_t stage : {0, 1})
    finish(build(stage).allReduce(0, 4097, 256).wait(4097), stage);
  finish(build(2), 2);
  EXPECT_EQ(verify(system), "never happens: rank 0 waits here for rank 2, "
                            "which has finished");
}

TEST(Communication, SendsAreNotBuffered) {
  // Each waits for its send before it receives.
  CommunicationSystem system = makeSystem(2, 1);
  system.programs.resize(2);
  ProgramBuilder(system.programs[0], 0)
      .send(1, 0, 0)
      .wait(0)
      .recv(1, 1, 1)
      .wait(1);
  ProgramBuilder(system.programs[1], 1)
      .send(0, 1, 0)
      .wait(0)
      .recv(0, 0, 1)
      .wait(1);
  EXPECT_EQ(verify(system), "never happens: ranks wait for each other in a "
                            "cycle, rank 0 here");
}

TEST(Communication, ProgramsAreThoseOfTheStage) {
  CommunicationSystem system = makeSystem(2, 2);
  system.programs.resize(2);
  ProgramBuilder(system.programs[0], 0).allReduce(1);
  ProgramBuilder(system.programs[1], 1).allReduce(1);
  EXPECT_EQ(verify(system), "");
  system.programOf[1] = 1;
  EXPECT_EQ(verify(system), "is of stage 1, but rank 1, which runs it, is of "
                            "stage 0");
  system.programOf[1] = 2;
  EXPECT_EQ(verify(system), "rank 1 runs program 2 of 2");
  system.programOf.pop_back();
  EXPECT_EQ(verify(system), "names the programs of 3 ranks, expected 4");
}

/// GPipe on 8 stages with 12 layers each, and 4 collectives over tp in each of
/// 3 phases of a layer, on 4096 ranks.
CommunicationSystem makeLargeSystem(int microbatches) {
  constexpr int stages = 8, reductions = 12 * 4;
  CommunicationSystem system;
  system.axes = {{"pp", stages}, {"dp", 64}, {"tp", 8}};
  system.groups = {{2}, {1}, {0}};
  system.numMessageSlots = DTC_MAX_MESSAGE_SLOTS;
  system.numSlots = DTC_MAX_MESSAGE_SLOTS + DTC_MAX_COLLECTIVE_SLOTS;
  system.assignPrograms();
  system.programs.resize(stages);
  for (int stage = 0; stage < stages; ++stage) {
    ProgramBuilder builder(system.programs[stage], stage);
    auto reduce = [&](int count) {
      for (int i = 0; i < count; ++i)
        builder.allReduce(0);
    };
    auto forward = [&](int m) {
      if (stage > 0)
        builder.recv(stage - 1, m, 4095).wait(4095);
      reduce(reductions);
      if (stage + 1 < stages)
        builder.send(stage + 1, m, m);
    };
    auto backward = [&](int m) {
      if (stage + 1 < stages)
        builder.recv(stage + 1, microbatches + m, 4095).wait(4095).wait(m);
      reduce(2 * reductions);
      if (stage > 0)
        builder.send(stage - 1, microbatches + m, microbatches + m);
    };
    for (int m = 0; m < microbatches; ++m)
      forward(m);
    for (int m = 0; m < microbatches; ++m)
      backward(m);
    if (stage > 0)
      for (int m = 0; m < microbatches; ++m)
        builder.wait(microbatches + m);
    builder.allReduce(1).allReduce(2);
  }
  return system;
}

double time(llvm::function_ref<void()> body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST(Communication, ThousandsOfRanks) {
  CommunicationSystem system = makeLargeSystem(/*microbatches=*/96);
  size_t events = 0;
  for (const CommunicationProgram &program : system.programs)
    events += program.events.size();
  double seconds = time([&] { EXPECT_EQ(verify(system), ""); });
  llvm::outs() << system.getNumRanks() << " ranks, " << events << " events of "
               << system.programs.size() << " classes: " << seconds
               << " seconds\n";
  EXPECT_LT(seconds, 10);

  // One rank has its own program, so the proof runs every rank.
  system = makeLargeSystem(/*microbatches=*/24);
  system.programOf[77] = system.programs.size();
  system.programs.push_back(system.programs[0]);
  seconds = time([&] { EXPECT_EQ(verify(system), ""); });
  llvm::outs() << "every rank by itself, a quarter of the events: " << seconds
               << " seconds\n";

  // It omits its reduction over dp, in which rank 5 takes part, too.
  system = makeLargeSystem(/*microbatches=*/1);
  system.programOf[77] = system.programs.size();
  system.programs.push_back(system.programs[0]);
  std::vector<Event> &own = system.programs.back().events;
  own.erase(own.end() - 2);
  EXPECT_EQ(verify(system), "never happens: rank 5 waits here for rank 77, "
                            "which has finished");
}

} // namespace
