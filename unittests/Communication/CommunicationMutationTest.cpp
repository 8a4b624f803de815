//===- CommunicationMutationTest.cpp - the proof finds errors -------------===//
//
// Corrupts the event lists of real plans, one event at a time. The proof must
// reject each corruption, unless an independent machine finds that the step
// still ends with the same data under any order of the ranks.
//
//===----------------------------------------------------------------------===//

#include "AbstractMachine.h"
#include "dtc/Communication/PlanCommunication.h"
#include "dtc/Pipelines/Pipelines.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace dtc;
using namespace dtc::test;

namespace {

constexpr int numMutants = 7000;
/// The number of random orders of ranks in which an accepted mutant, and a
/// rejected one, must compute the same to count as equivalent.
constexpr int acceptedRuns = 16, rejectedRuns = 4;

struct PlanCase {
  const char *name, *model, *loss;
  int64_t batch, dp, pp, tp, zero, microbatches;
  const char *schedule = "1f1b";
  int64_t accumulate = 1, hsdp = 1;
  bool sp = false;
  int64_t virtualStages = 1;
  const char *compress = "none", *sync = "step";
  const char *program = ""; ///< between steps; empty: the step
  int64_t ep = 1;
};

/// Two micro-batches of a mixture whose experts two ranks share.
constexpr PlanCase exchangeRows(const char *name, int64_t dp, int64_t pp,
                                int64_t zero) {
  PlanCase plan{name, "experts/mixtral", "cross-entropy", 32, dp, pp, 1, zero,
                2};
  plan.ep = 2;
  return plan;
}

/// Two micro-batches of mlp-digits whose replicas exchange in another way. The
/// batch is that of a worker, if replicas train apart.
constexpr PlanCase exchange(const char *name, int64_t dp, int64_t pp,
                            const char *compress, const char *sync,
                            const char *program = "") {
  PlanCase plan{name, "mlp-digits", "cross-entropy", 64, dp, pp, 1, 0, 2};
  plan.compress = compress;
  plan.sync = sync;
  plan.program = program;
  return plan;
}

const PlanCase planCases[] = {
    {"dp", "mlp-digits", "cross-entropy", 64, 4, 1, 1, 0, 2},
    {"zero 1", "mlp-digits", "cross-entropy", 64, 4, 1, 1, 1, 2},
    {"zero 2", "mlp-digits", "cross-entropy", 64, 2, 2, 1, 2, 2},
    {"zero 3, prefetch", "mlp-digits", "cross-entropy", 64, 4, 1, 1, 3, 2},
    {"zero 3, pp", "gpt2-tiny", "cross-entropy", 32, 2, 2, 1, 3, 2},
    {"hsdp", "mlp-digits", "cross-entropy", 64, 4, 1, 1, 2, 1, "1f1b", 1, 2},
    {"zero 3, two layers in flight", "gpt2-tiny", "cross-entropy", 32, 2, 1, 1,
     3, 2},
    {"gpipe", "gpt2-tiny", "cross-entropy", 32, 1, 4, 1, 0, 8, "gpipe"},
    {"1f1b", "gpt2-tiny", "cross-entropy", 32, 2, 4, 1, 0, 4},
    {"zb-h1", "gpt2-tiny", "cross-entropy", 32, 1, 3, 1, 0, 4, "zb-h1"},
    {"interleaved", "gpt2-tiny", "cross-entropy", 32, 2, 2, 1, 1, 4,
     "interleaved", 1, 1, false, 2},
    {"rounds", "toy", "mse", 64, 2, 2, 1, 0, 2, "1f1b", 2},
    {"tp", "gpt2-tiny", "cross-entropy", 32, 1, 1, 4, 0, 1},
    {"tp, sp", "gpt2-tiny", "cross-entropy", 32, 1, 2, 2, 0, 2, "1f1b", 1, 1,
     true},
    {"dp, pp, tp", "gpt2-tiny", "cross-entropy", 32, 2, 2, 2, 1, 2},
    {"all to all", "matching", "cross-entropy", 32, 4, 1, 1, 0, 1},
    {"a layer of all stages", "modules/repeated", "cross-entropy", 64, 2, 4, 1,
     0, 1, "gpipe"},
    {"all to all, pp", "matching", "cross-entropy", 32, 2, 2, 1, 0, 1},
    exchangeRows("experts", 4, 1, 3),
    exchangeRows("experts, pp", 2, 2, 0),
    exchange("codes, in both directions", 4, 1, "int8", "step"),
    exchange("codes, pp", 2, 2, "sign", "step"),
    exchange("codes of all ranks", 4, 1, "topk:0.1", "step"),
    exchange("factors", 4, 1, "powersgd:1", "step"),
    exchange("delay", 4, 1, "none", "delayed:1"),
    exchange("delayed codes", 2, 2, "qsgd:7", "delayed:2"),
    exchange("gossip", 4, 1, "none", "gossip:ring"),
    exchange("gossip, pp", 4, 2, "none", "gossip:exponential"),
    exchange("another peer", 4, 1, "none", "gossip:one-peer", "sync0"),
    exchange("average of workers", 4, 2, "none", "every:4", "sync"),
    exchange("outer steps", 4, 1, "none", "every:4,outer=nesterov:0.7:0.9",
             "sync"),
};

/// A hand-written plan: three stages of four ranks whose shards move in a ring,
/// over dp and over stages, blocking and in flight, with a message behind them
/// in the queues of two stages.
CommunicationSystem makeRing() {
  constexpr int32_t stages = 3;
  CommunicationSystem system;
  system.axes = {{"pp", stages}, {"dp", 4}};
  system.groups = {{1}, {0}};
  system.permutations = {{3, 0, 1, 2}, {1, 2, 0}, {2, 3, 0, 1}};
  system.numMessageSlots = DTC_MAX_MESSAGE_SLOTS;
  system.numSlots = DTC_MAX_MESSAGE_SLOTS + DTC_MAX_COLLECTIVE_SLOTS;
  system.assignPrograms();
  for (int32_t stage = 0; stage < stages; ++stage) {
    CommunicationProgram &program = system.programs.emplace_back();
    program.stage = stage;
    // Buffers have 64 bytes each. Two hold four shares, two hold the message
    // and its reply.
    constexpr int64_t sizes[] = {64, 64, 64, 64, 256, 256, 64, 64};
    program.numBuffers = std::size(sizes);
    std::vector<int32_t> values(std::size(sizes));
    auto read = [&](int32_t buffer) {
      return Access{buffer, 0, sizes[buffer], values[buffer]};
    };
    auto write = [&](int32_t buffer) {
      values[buffer] = program.numValues++;
      return Access{buffer, 0, sizes[buffer], values[buffer], true};
    };
    auto compute = [&](int32_t from, int32_t to) {
      Access source = read(from);
      program.add({}, {source, write(to)});
    };
    auto exchange = [&](CollectiveKind kind, int32_t group, int32_t permutation,
                        int32_t slot, int32_t from, int32_t to) {
      Event event;
      event.kind = EventKind::Collective;
      event.collective = kind;
      event.group = group;
      event.permutation = permutation;
      event.subject = from;
      event.slot = slot;
      event.dtype = DTC_F32;
      event.count = 16;
      Access source = read(from);
      program.add(event, {source, write(to)});
    };
    auto wait = [&](int32_t slot, int32_t buffer) {
      Event event;
      event.kind = EventKind::Wait;
      event.slot = slot;
      program.add(event, {read(buffer)});
    };
    auto start = [&](EventKind kind, int32_t peer, int32_t buffer) {
      Event event;
      event.kind = kind;
      event.stage = peer;
      event.tag = 0;
      event.slot = 0;
      event.dtype = DTC_F32;
      event.count = 16;
      program.add(event,
                  {kind == EventKind::Send ? read(buffer) : write(buffer)});
    };
    constexpr CollectiveKind permute = CollectiveKind::CollectivePermute;
    for (int32_t buffer = 0; buffer < program.numBuffers; ++buffer)
      program.add({}, {write(buffer)});
    for (int round = 0; round < 3; ++round) {
      exchange(permute, 0, 0, 4096, 0, 1);
      exchange(permute, 0, 2, 4097, 2, 3);
      exchange(CollectiveKind::AllToAll, 0, -1, -1, 4, 5);
      compute(5, 4);
      wait(4096, 1);
      exchange(permute, 1, 1, -1, 1, 0);
      wait(4097, 3);
      compute(3, 2);
      exchange(permute, 1, 1, 4096, 0, 1);
      if (stage == 0)
        start(EventKind::Send, 1, 6);
      if (stage == 1)
        start(EventKind::Recv, 0, 6);
      exchange(permute, 1, 1, 4097, 2, 7);
      wait(4096, 1);
      if (stage < 2)
        wait(0, 6);
      wait(4097, 7);
      compute(7, 6);
      compute(1, 0);
      compute(0, 5);
    }
    for (int32_t buffer = 0; buffer < program.numBuffers; ++buffer)
      program.add({}, {read(buffer)});
  }
  return system;
}

/// The event lists of a plan, as VerifyCommunication sees them.
CommunicationSystem makePlan(const PlanCase &plan) {
  CompileOptions options;
  options.import.path =
      std::string(DTC_TEST_INPUTS) + "/" + plan.model + ".onnx";
  options.import.batch = plan.batch;
  options.training.loss = plan.loss;
  options.parallel.dp = plan.dp;
  options.parallel.hsdp = plan.hsdp;
  options.parallel.ep = plan.ep;
  options.parallel.pp = plan.pp;
  options.parallel.tp = plan.tp;
  options.parallel.sp = plan.sp;
  options.parallel.zero = plan.zero;
  options.parallel.microbatches = plan.microbatches;
  options.parallel.compress = plan.compress;
  options.parallel.sync = plan.sync;
  options.schedule.accumulate = plan.accumulate;
  options.schedule.schedule = plan.schedule;
  options.schedule.virtualStages = plan.virtualStages;

  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  ImportReport report;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      importOnnx(context, options.import, report);
  if (!module) {
    ADD_FAILURE() << plan.model << " cannot be imported";
    return {};
  }
  options.set(*module);
  for (CompilePhase phase : planPhases)
    if (mlir::failed(runPhase(phase, *module))) {
      ADD_FAILURE() << plan.name << " does not compile";
      return {};
    }
  mlir::FailureOr<llvm::SmallVector<Stages>> programs = getPrograms(*module);
  if (mlir::failed(programs))
    return {};
  Stages *stages = llvm::find_if(*programs, [&](const Stages &of) {
    return getProgram(of.front()) == plan.program;
  });
  if (stages == programs->end()) {
    ADD_FAILURE() << plan.name << " has no program '" << plan.program << "'";
    return {};
  }
  mlir::FailureOr<PlanCommunication> communication =
      getPlanCommunication(*module, *stages);
  return mlir::failed(communication) ? CommunicationSystem()
                                     : std::move(communication->system);
}

enum class Mutation {
  Drop,
  Swap, ///< with the next communication
  Move, ///< among all events, by up to 20 places
  Resize,
  Readdress, ///< another group or stage
  Retag,
  Reslot,
  Reduction,
  Dtype,
  Permutation, ///< another one, or another collective of the same buffers
};
constexpr const char *mutationNames[] = {
    "drop",  "swap",   "move",      "resize", "readdress",
    "retag", "reslot", "reduction", "dtype",  "permutation"};
constexpr int numMutations = 10;

/// If all ranks of a stage apply these corruptions alike, the result may be a
/// valid program. So only one rank applies them.
bool mayBeOfClass(Mutation mutation) {
  return mutation == Mutation::Drop || mutation == Mutation::Swap ||
         mutation == Mutation::Move || mutation == Mutation::Retag ||
         mutation == Mutation::Reslot;
}

class Mutator {
public:
  Mutator(const CommunicationSystem &original, std::mt19937_64 &random)
      : original(original), random(random) {}

  /// A mutant, and its description.
  std::pair<CommunicationSystem, std::string> make() {
    while (true) {
      Mutation mutation = static_cast<Mutation>(pick(numMutations));
      int64_t rank = pick(original.programOf.size());
      int32_t number = original.programOf[rank];
      bool isClass = mayBeOfClass(mutation) && pick(2);
      CommunicationProgram program = original.programs[number];
      std::vector<size_t> places;
      for (size_t i = 0; i < program.events.size(); ++i)
        if (program.events[i].kind != EventKind::Local)
          places.push_back(i);
      if (places.empty())
        continue;
      size_t which = pick(places.size());
      Event before = program.events[places[which]];
      if (!apply(mutation, program, places, which))
        continue;
      CommunicationSystem mutant = original;
      if (isClass) {
        mutant.programs[number] = std::move(program);
      } else {
        mutant.programOf[rank] = mutant.programs.size();
        mutant.programs.push_back(std::move(program));
      }
      std::string text = mutationNames[static_cast<int>(mutation)];
      text += " event " + std::to_string(places[which]) + ", kind " +
              std::to_string(static_cast<int>(before.kind)) + ", tag " +
              std::to_string(before.tag) + ", slot " +
              std::to_string(before.slot) + ", group " +
              std::to_string(before.group) +
              (isClass ? ", on all ranks like " : ", on ") + "rank " +
              std::to_string(rank);
      return {std::move(mutant), text};
    }
  }

private:
  size_t pick(size_t count) { return random() % count; }

  bool apply(Mutation mutation, CommunicationProgram &program,
             const std::vector<size_t> &places, size_t which) {
    std::vector<Event> &events = program.events;
    size_t place = places[which];
    Event &event = events[place];
    bool isMessage =
        event.kind == EventKind::Send || event.kind == EventKind::Recv;
    switch (mutation) {
    case Mutation::Drop:
      events.erase(events.begin() + place);
      return true;
    case Mutation::Swap:
      if (which + 1 == places.size())
        return false;
      std::swap(event, events[places[which + 1]]);
      return true;
    case Mutation::Move: {
      int64_t to = static_cast<int64_t>(place) + pick(41) - 20;
      if (to < 1 || to >= static_cast<int64_t>(events.size()) ||
          to == static_cast<int64_t>(place))
        return false;
      Event moved = event;
      events.erase(events.begin() + place);
      events.insert(events.begin() + to, moved);
      return true;
    }
    case Mutation::Resize: {
      if (event.kind == EventKind::Wait || event.count < 2)
        return false;
      // Half of the time the event's bytes change, too.
      int64_t count = 1 + pick(event.count - 1);
      if (pick(2)) {
        std::vector<Access> changed;
        for (Access access : program.getAccesses(event)) {
          access.end =
              access.begin + (access.end - access.begin) / event.count * count;
          changed.push_back(access);
        }
        event.firstAccess = program.accesses.size();
        program.accesses.insert(program.accesses.end(), changed.begin(),
                                changed.end());
      }
      event.count = count;
      return true;
    }
    case Mutation::Readdress:
      if (isMessage) {
        int32_t stage = pick(original.programs.size() + 1);
        return std::exchange(event.stage, stage) != stage;
      }
      if (!isCollective(event.kind))
        return false;
      {
        int32_t group = pick(original.groups.size());
        return std::exchange(event.group, group) != group;
      }
    case Mutation::Retag: {
      if (!isMessage)
        return false;
      int32_t tag = pick(2 * (event.tag + 2));
      return std::exchange(event.tag, tag) != tag;
    }
    case Mutation::Reslot: {
      if (event.slot < 0)
        return false;
      // A buffer close by, of a send or of a collective.
      int32_t slot = pick(4) ? std::max<int32_t>(0, event.slot - 2 + pick(5))
                             : original.numMessageSlots - 2 + pick(5);
      return std::exchange(event.slot, slot) != slot;
    }
    case Mutation::Reduction:
      if (event.reduction < 0)
        return false;
      event.reduction = 1 - event.reduction;
      return true;
    case Mutation::Dtype:
      if (event.dtype < 0)
        return false;
      event.dtype = (event.dtype + 1 + pick(4)) % 5;
      return true;
    case Mutation::Permutation: {
      if (!isCollective(event.kind) || event.reduction >= 0)
        return false;
      if (event.permutation < 0) { // blocks instead
        ++(pick(2) ? event.inputBlocks : event.outputBlocks);
        return true;
      }
      int32_t other = pick(original.permutations.size());
      return std::exchange(event.permutation, other) != other;
    }
    }
    return false;
  }

  const CommunicationSystem &original;
  std::mt19937_64 &random;
};

bool isEquivalent(const CommunicationSystem &mutant,
                  const std::vector<uint64_t> &contents, int runs) {
  for (int seed = 0; seed < runs; ++seed) {
    MachineResult result = runOnce(mutant, seed);
    // A mutant of one rank has one more program; buffers belong to ranks.
    if (!result.failure.empty() || result.contents != contents)
      return false;
  }
  return true;
}

TEST(CommunicationMutation, EveryErrorIsFound) {
  auto start = std::chrono::steady_clock::now();
  std::mt19937_64 random(20240229);
  std::vector<CommunicationSystem> plans;
  std::vector<std::vector<uint64_t>> contents;
  for (const PlanCase &plan : planCases) {
    SCOPED_TRACE(plan.name);
    plans.push_back(makePlan(plan));
    CommunicationSystem &system = plans.back();
    ASSERT_FALSE(system.programs.empty());
    // Groups that a mutant may use by mistake.
    for (int32_t axis = 0; axis < static_cast<int32_t>(system.axes.size());
         ++axis)
      system.groups.push_back({axis});
    std::optional<CommunicationError> error = verifyCommunication(system);
    ASSERT_FALSE(error) << error->culprit.message;
    MachineResult result = runOnce(system, 0);
    ASSERT_EQ(result.failure, "");
    contents.push_back(result.contents);
    ASSERT_TRUE(isEquivalent(system, result.contents, acceptedRuns));
  }
  // The ring gets more attempts to find a corruption of each kind.
  for (CommunicationSystem &system : std::vector{makeRing(), makeRing()}) {
    std::optional<CommunicationError> error = verifyCommunication(system);
    ASSERT_FALSE(error) << error->culprit.message;
    MachineResult result = runOnce(system, 0);
    ASSERT_EQ(result.failure, "");
    contents.push_back(result.contents);
    ASSERT_TRUE(isEquivalent(system, result.contents, acceptedRuns));
    plans.push_back(std::move(system));
  }
  auto compiled = std::chrono::steady_clock::now();

  int rejected = 0, equivalent = 0, rejectedEquivalent = 0;
  double proofSeconds = 0;
  for (int i = 0; i < numMutants; ++i) {
    size_t number = i % plans.size();
    auto [mutant, text] = Mutator(plans[number], random).make();
    auto before = std::chrono::steady_clock::now();
    bool isRejected = verifyCommunication(mutant).has_value();
    proofSeconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - before)
            .count();
    bool isSame = isEquivalent(mutant, contents[number],
                               isRejected ? rejectedRuns : acceptedRuns);
    rejected += isRejected;
    equivalent += isSame;
    rejectedEquivalent += isRejected && isSame;
    EXPECT_TRUE(isRejected || isSame)
        << (number < std::size(planCases) ? planCases[number].name : "ring")
        << ", mutant " << i << ": " << text;
  }
  auto end = std::chrono::steady_clock::now();
  auto seconds = [](auto from, auto to) {
    return std::chrono::duration<double>(to - from).count();
  };
  llvm::outs() << numMutants << " mutants of " << plans.size()
               << " plans: " << rejected << " rejected, " << equivalent
               << " equivalent, of which " << rejectedEquivalent
               << " rejected\n"
               << "seconds: plans " << seconds(start, compiled) << ", mutants "
               << seconds(compiled, end) << ", of which the proof "
               << proofSeconds << "\n";
  EXPECT_GT(rejected, numMutants / 2);
}

} // namespace
