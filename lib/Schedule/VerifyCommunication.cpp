//===- VerifyCommunication.cpp - check that all messages meet -------------===//
//
// Makes the list of events of every rank from the plan of its stage and
// executes all of them together: sends start at once, receives block until the
// message is there, waits until it is taken, collectives until all members
// are at the same one.
//
//===----------------------------------------------------------------------===//

#include "dtc/Runtime/ABI.h"
#include "dtc/Schedule/MemoryPlan.h"
#include "dtc/Schedule/Passes.h"
#include "dtc/Schedule/Ranks.h"
#include "dtc/Schedule/Skeleton.h"
#include <map>

namespace dtc {
#define GEN_PASS_DEF_VERIFYCOMMUNICATION
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct Event {
  enum Kind { Send, Recv, Wait, Collective } kind;
  Operation *op;
};

/// Events of a function, those of what it runs included.
void collectEvents(func::FuncOp function, std::vector<Event> &events) {
  for (Operation &op : function.front()) {
    if (isa<SendOp>(op))
      events.push_back({Event::Send, &op});
    else if (isa<RecvOp>(op))
      events.push_back({Event::Recv, &op});
    else if (isa<WaitOp>(op))
      events.push_back({Event::Wait, &op});
    else if (isa<AllReduceOp, ReduceScatterOp, AllGatherOp>(op))
      events.push_back({Event::Collective, &op});
    else if (auto run = dyn_cast<RunOp>(op))
      collectEvents(getCallee(run), events);
  }
}

/// A message under way.
struct Flight {
  Operation *send;
  int64_t rank, slot;
};

/// From rank, to rank, tag.
using Channel = std::tuple<int64_t, int64_t, int64_t>;

class Execution {
public:
  Execution(MeshAttr mesh, std::vector<std::vector<Event>> programs)
      : ranks(mesh), programs(std::move(programs)) {
    int64_t count = mesh.getNumRanks();
    next.resize(count);
    slots.resize(count);
  }

  LogicalResult execute();

private:
  ArrayRef<Event> getProgram(int64_t rank) const {
    return programs[ranks.getCoordinate(rank, stageAxis)];
  }
  const Event *getCurrent(int64_t rank) const {
    ArrayRef<Event> program = getProgram(rank);
    return next[rank] < program.size() ? &program[next[rank]] : nullptr;
  }
  /// Whether the rank's next event happened; failure after a diagnostic.
  FailureOr<bool> step(int64_t rank);
  FailureOr<bool> stepSend(int64_t rank, SendOp op);
  FailureOr<bool> stepRecv(int64_t rank, RecvOp op);
  FailureOr<bool> stepWait(int64_t rank, WaitOp op);
  FailureOr<bool> stepCollective(int64_t rank, Operation *op);
  LogicalResult checkStage(Operation *op, int64_t stage);
  LogicalResult reportBlocked();
  LogicalResult checkLeftovers();
  /// The rank whose progress a blocked one waits for.
  int64_t getBlocker(int64_t rank);

  Ranks ranks;
  std::vector<std::vector<Event>> programs; ///< by stage
  std::vector<size_t> next;                 ///< by rank
  /// Of each rank, what no wait has ended, by slot: sends, a gather.
  struct Slot {
    Operation *op;
    Value value; ///< that the wait names
    Channel channel;
    bool done;
  };
  std::vector<std::map<int64_t, Slot>> slots;
  std::map<Channel, Flight> flights;
};

LogicalResult Execution::checkStage(Operation *op, int64_t stage) {
  if (stage >= 0 && stage < static_cast<int64_t>(programs.size()))
    return success();
  return op->emitOpError("names stage ")
         << stage << ", expected one of " << programs.size();
}

FailureOr<bool> Execution::stepSend(int64_t rank, SendOp op) {
  if (failed(checkStage(op, op.getStage())))
    return failure();
  Channel channel{rank, ranks.getPeer(rank, stageAxis, op.getStage()),
                  op.getTag()};
  auto [flight, isNew] =
      flights.insert({channel, Flight{op, rank, (int64_t)op.getSlot()}});
  if (!isNew) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("uses tag ")
        << op.getTag() << " to stage " << op.getStage()
        << " while another message with it is under way";
    diagnostic.attachNote(flight->second.send->getLoc()) << "the other send";
    return failure();
  }
  auto [slot, isFree] =
      slots[rank].insert({op.getSlot(), Slot{op, op.getX(), channel, false}});
  if (!isFree) {
    InFlightDiagnostic diagnostic = op.emitOpError("uses slot ")
                                    << op.getSlot()
                                    << ", which still belongs to another send";
    diagnostic.attachNote(slot->second.op->getLoc()) << "the other send";
    return failure();
  }
  return true;
}

FailureOr<bool> Execution::stepRecv(int64_t rank, RecvOp op) {
  if (failed(checkStage(op, op.getStage())))
    return failure();
  Channel channel{ranks.getPeer(rank, stageAxis, op.getStage()), rank,
                  op.getTag()};
  auto flight = flights.find(channel);
  if (flight == flights.end())
    return false;
  auto send = cast<SendOp>(flight->second.send);
  if (send.getX().getType() != op.getType()) {
    InFlightDiagnostic diagnostic = op.emitOpError("receives ")
                                    << op.getType() << ", but is sent "
                                    << send.getX().getType();
    diagnostic.attachNote(send.getLoc()) << "the send";
    return failure();
  }
  auto slot = slots[flight->second.rank].find(flight->second.slot);
  if (slot != slots[flight->second.rank].end() &&
      slot->second.channel == channel)
    slot->second.done = true;
  flights.erase(flight);
  return true;
}

FailureOr<bool> Execution::stepWait(int64_t rank, WaitOp op) {
  auto slot = slots[rank].find(op.getSlot());
  if (slot == slots[rank].end())
    return FailureOr<bool>(op.emitOpError("waits for slot ")
                           << op.getSlot() << ", which no send has taken");
  if (slot->second.value != op.getX()) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("waits for another value than slot ")
        << op.getSlot() << " is for";
    diagnostic.attachNote(slot->second.op->getLoc()) << "the slot's use";
    return failure();
  }
  if (!slot->second.done)
    return false;
  slots[rank].erase(slot);
  return true;
}

/// Whether two ranks may meet in these ops.
bool isSameCollective(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute() &&
         a->getAttr(attr::slot) == b->getAttr(attr::slot) &&
         a->getOperandTypes() == b->getOperandTypes() &&
         a->getResultTypes() == b->getResultTypes();
}

FailureOr<bool> Execution::stepCollective(int64_t rank, Operation *op) {
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  SmallVector<int64_t> group = ranks.getGroup(rank, axes);
  for (int64_t member : group) {
    const Event *event = getCurrent(member);
    if (!event || event->kind != Event::Collective ||
        ranks.getGroup(member, event->op->getAttrOfType<ArrayAttr>("axes")) !=
            group)
      return false;
    if (isSameCollective(op, event->op))
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError("on rank ")
        << rank << " meets another collective on rank " << member;
    diagnostic.attachNote(event->op->getLoc()) << "the other collective";
    return failure();
  }
  // What starts here is done when all have started; a wait comes later still.
  for (int64_t member : group)
    if (auto number = op->getAttrOfType<IntegerAttr>(attr::slot)) {
      if (number.getInt() < firstCollectiveSlot ||
          number.getInt() >= endCollectiveSlot)
        return FailureOr<bool>(op->emitOpError("uses slot ")
                               << number.getInt() << ", expected "
                               << firstCollectiveSlot << " to "
                               << endCollectiveSlot - 1);
      Operation *own = getCurrent(member)->op;
      if (!slots[member]
               .insert(
                   {number.getInt(), Slot{own, own->getResult(0), {}, true}})
               .second)
        return FailureOr<bool>(op->emitOpError("uses slot ")
                               << number.getInt()
                               << ", whose last use was not waited for");
    }
  for (int64_t member : group)
    if (member != rank)
      ++next[member];
  return true;
}

FailureOr<bool> Execution::step(int64_t rank) {
  const Event *event = getCurrent(rank);
  if (!event)
    return false;
  FailureOr<bool> happened = false;
  switch (event->kind) {
  case Event::Send:
    happened = stepSend(rank, cast<SendOp>(event->op));
    break;
  case Event::Recv:
    happened = stepRecv(rank, cast<RecvOp>(event->op));
    break;
  case Event::Wait:
    happened = stepWait(rank, cast<WaitOp>(event->op));
    break;
  case Event::Collective:
    happened = stepCollective(rank, event->op);
    break;
  }
  if (succeeded(happened) && *happened)
    ++next[rank];
  return happened;
}

int64_t Execution::getBlocker(int64_t rank) {
  const Event *event = getCurrent(rank);
  switch (event->kind) {
  case Event::Recv:
    return ranks.getPeer(rank, stageAxis, cast<RecvOp>(event->op).getStage());
  case Event::Wait: {
    auto slot = slots[rank].find(cast<WaitOp>(event->op).getSlot());
    return std::get<1>(slot->second.channel);
  }
  case Event::Collective: {
    SmallVector<int64_t> group =
        ranks.getGroup(rank, event->op->getAttrOfType<ArrayAttr>("axes"));
    for (int64_t member : group) {
      const Event *other = getCurrent(member);
      if (!other || other->kind != Event::Collective ||
          ranks.getGroup(member, other->op->getAttrOfType<ArrayAttr>("axes")) !=
              group)
        return member;
    }
    return rank;
  }
  case Event::Send:
    return rank;
  }
  return rank;
}

LogicalResult Execution::reportBlocked() {
  auto blocked =
      llvm::find_if(llvm::seq<int64_t>(0, next.size()),
                    [&](int64_t rank) { return getCurrent(rank) != nullptr; });
  // Follow who waits for whom, until somebody has finished or comes again.
  SmallVector<int64_t> chain = {*blocked};
  bool isCycle = false;
  while (true) {
    int64_t blocker = getBlocker(chain.back());
    if (!getCurrent(blocker)) {
      chain.push_back(blocker);
      break;
    }
    auto seen = llvm::find(chain, blocker);
    if (seen != chain.end()) {
      chain.erase(chain.begin(), seen);
      isCycle = true;
      break;
    }
    chain.push_back(blocker);
  }
  Operation *op =
      getCurrent(isCycle ? chain.front() : chain[chain.size() - 2])->op;
  InFlightDiagnostic diagnostic = op->emitOpError();
  if (isCycle) {
    diagnostic << "never happens: ranks wait for each other in a cycle, rank "
               << chain.front() << " here";
    for (int64_t rank : ArrayRef(chain).drop_front())
      diagnostic.attachNote(getCurrent(rank)->op->getLoc())
          << "rank " << rank << " waits here";
    return failure();
  }
  diagnostic << "never happens: rank " << chain[chain.size() - 2]
             << " waits here for rank " << chain.back()
             << ", which has come to its end";
  ArrayRef<Event> program = getProgram(chain.back());
  if (!program.empty())
    diagnostic.attachNote(program.back().op->getLoc())
        << "the last communication of rank " << chain.back();
  return failure();
}

LogicalResult Execution::checkLeftovers() {
  for (auto &[channel, flight] : flights)
    return flight.send->emitOpError("is never received by stage ")
           << cast<SendOp>(flight.send).getStage();
  for (auto &rankSlots : slots)
    for (auto &[number, slot] : rankSlots)
      return slot.op->emitOpError("is never waited for");
  return success();
}

LogicalResult Execution::execute() {
  for (bool progress = true; progress;) {
    progress = false;
    for (int64_t rank : llvm::seq<int64_t>(0, next.size()))
      while (true) {
        FailureOr<bool> happened = step(rank);
        if (failed(happened))
          return failure();
        if (!*happened)
          break;
        progress = true;
      }
  }
  for (int64_t rank : llvm::seq<int64_t>(0, next.size()))
    if (getCurrent(rank))
      return reportBlocked();
  return checkLeftovers();
}

/// The runtime has so many slots for sends that are under way.
LogicalResult checkSlots(func::FuncOp plan, ArrayRef<Event> events,
                         int64_t microbatches) {
  int64_t needed = 0;
  for (const Event &event : events)
    if (event.kind == Event::Send)
      needed = std::max<int64_t>(needed, cast<SendOp>(event.op).getSlot() + 1);
  if (needed <= DTC_MAX_SEND_SLOTS)
    return success();
  InFlightDiagnostic error = plan.emitError("has ")
                             << needed << " sends under way at once with "
                             << microbatches << " micro-batches, expected at "
                             << "most " << DTC_MAX_SEND_SLOTS;
  // Sends of micro-batches add up; a divisor suits the batch as well.
  int64_t fewer = microbatches * DTC_MAX_SEND_SLOTS / needed;
  while (fewer > 1 && microbatches % fewer)
    --fewer;
  if (fewer >= 1)
    error << "; --microbatches " << fewer << " would do";
  return failure();
}

struct VerifyCommunicationPass
    : dtc::impl::VerifyCommunicationBase<VerifyCommunicationPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<SmallVector<Stages>> all = getPrograms(getOperation());
    if (failed(all))
      return signalPassFailure();
    for (const Stages &stages : *all)
      if (failed(verify(stages)))
        return signalPassFailure();
  }

  LogicalResult verify(const Stages &stages) {
    MeshAttr mesh;
    std::vector<std::vector<Event>> programs;
    for (ModuleOp stage : stages) {
      func::FuncOp plan = getPlan(stage);
      if (!plan)
        return failure();
      if (plan.isExternal())
        return plan.emitError("has no body; schedule micro-batches first");
      programs.emplace_back();
      collectEvents(plan, programs.back());
      if (!mesh)
        mesh = getMesh(plan);
      // Of a round: sends of two rounds do not add up.
      int64_t microbatches =
          mesh ? mesh.getSize(MeshAttr::timeAxis) / getRounds(plan) : 1;
      if (failed(checkSlots(plan, programs.back(), microbatches)))
        return failure();
    }
    if (!mesh)
      return success(); // nothing is distributed
    if (mesh.getSize(stageAxis) != static_cast<int64_t>(programs.size()))
      return getOperation().emitError("has ")
             << programs.size() << " stages, expected "
             << mesh.getSize(stageAxis) << ", the size of mesh axis "
             << stageAxis;
    return Execution(mesh, std::move(programs)).execute();
  }
};

} // namespace
