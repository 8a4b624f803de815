//===- StartReceives.cpp - one order of messages --------------------------===//
//
// A GPU runs communication in the order in which it was put on its stream. A
// send ends when it is received, and everything behind it waits. So all ranks
// must put the messages that they exchange on their streams in one order.
//
// At first, a plan receives the operands of a run right before the run. The
// receive may then be behind sends and runs whose partners wait for it. This
// pass moves receives up to their positions in the common order: the order of
// the times at which messages are available and runs begin, if all runs take
// equally long.
//
//===----------------------------------------------------------------------===//

#include "OverlapCommunication.h"
#include <deque>
#include <map>

using namespace mlir;
using namespace dtc;

namespace {

/// The time when a message is available or a run begins: the number of runs
/// before it, one after the other, and the number of messages since the last
/// run.
using Time = std::pair<int64_t, int64_t>;

/// A position in the common order. Messages precede runs of the same time,
/// which may need them. Messages of the same time are in the order of stages.
struct Place {
  Time time;
  bool isRun;
  int64_t stage;
  bool operator<(const Place &other) const {
    return std::tie(time, isRun, stage) <
           std::tie(other.time, other.isRun, other.stage);
  }
};

/// An action of a plan, or of a function that it runs, that involves other
/// ranks.
struct Item {
  Operation *op;
  Place place;
};

/// Executes the plans of all stages; a send completes at once.
class Execution {
public:
  explicit Execution(ArrayRef<func::FuncOp> plans);
  /// The items of one stage, in the order of its plan, as far as it ran.
  ArrayRef<Item> getItems(size_t stage) const { return items[stage]; }

private:
  bool runNext(int64_t stage);
  bool runTogether();
  void add(int64_t stage, Place place) {
    items[stage].push_back({*next[stage]++, place});
  }

  SmallVector<SmallVector<Operation *>> ops; ///< by stage
  SmallVector<Operation **> next;            ///< next op of each stage in `ops`
  SmallVector<Time> clocks;
  std::vector<std::vector<Item>> items;
  /// By sender, receiver and tag.
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::deque<Place>> sent;
  /// Functions that communicate with other stages.
  llvm::DenseMap<Operation *, bool> meets;
};

} // namespace

static bool meetsStages(func::FuncOp function) {
  return llvm::any_of(function.getOps<CollectiveOpInterface>(),
                      [](Operation *op) { return crossesStages(op); });
}

Execution::Execution(ArrayRef<func::FuncOp> plans)
    : clocks(plans.size()), items(plans.size()) {
  for (func::FuncOp plan : plans) {
    ops.emplace_back();
    for (Operation &op : plan.front())
      if (isa<RunOp, SendOp, RecvOp>(op))
        ops.back().push_back(&op);
  }
  for (SmallVector<Operation *> &list : ops)
    next.push_back(list.begin());
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t stage = 0; stage < plans.size(); ++stage)
      while (runNext(stage))
        progress = true;
    progress |= runTogether();
  }
}

bool Execution::runNext(int64_t stage) {
  if (next[stage] == ops[stage].end())
    return false;
  Operation *op = *next[stage];
  Time &clock = clocks[stage];
  if (auto send = dyn_cast<SendOp>(op)) {
    ++clock.second;
    Place place{clock, /*isRun=*/false, stage};
    sent[{stage, send.getStage(), send.getTag()}].push_back(place);
    add(stage, place);
    return true;
  }
  if (auto recv = dyn_cast<RecvOp>(op)) {
    std::deque<Place> &queue = sent[{recv.getStage(), stage, recv.getTag()}];
    if (queue.empty())
      return false;
    clock = std::max(clock, queue.front().time);
    add(stage, queue.front());
    queue.pop_front();
    return true;
  }
  func::FuncOp callee = getCallee(cast<RunOp>(op));
  auto [it, isNew] = meets.try_emplace(callee);
  if (isNew)
    it->second = meetsStages(callee);
  if (it->second)
    return false;
  add(stage, {clock, /*isRun=*/true, stage});
  clock = {clock.first + 1, 0};
  return true;
}

/// Starts a run in which all stages communicate, if all have reached it.
bool Execution::runTogether() {
  for (size_t stage = 0; stage < ops.size(); ++stage)
    if (next[stage] == ops[stage].end() || !isa<RunOp>(*next[stage]))
      return false;
  Time last = *llvm::max_element(clocks);
  for (size_t stage = 0; stage < ops.size(); ++stage) {
    add(stage, {last, /*isRun=*/true, int64_t(stage)});
    clocks[stage] = {last.first + 1, 0};
  }
  return true;
}

/// The items of a stage in the common order. Sends and runs are already in it.
static SmallVector<Item> sortItems(ArrayRef<Item> items) {
  auto isReceive = [](const Item &item) { return isa<RecvOp>(item.op); };
  SmallVector<Item> fixed, receives, sorted(items.size());
  llvm::copy_if(items, std::back_inserter(receives), isReceive);
  llvm::copy_if(items, std::back_inserter(fixed), std::not_fn(isReceive));
  auto precedes = [](const Item &a, const Item &b) {
    return a.place < b.place;
  };
  llvm::stable_sort(receives, precedes);
  std::merge(receives.begin(), receives.end(), fixed.begin(), fixed.end(),
             sorted.begin(), precedes);
  return sorted;
}

void dtc::startReceives(ArrayRef<func::FuncOp> plans) {
  Execution execution(plans);
  for (size_t stage = 0; stage < plans.size(); ++stage) {
    SmallVector<Item> sorted = sortItems(execution.getItems(stage));
    for (size_t i = sorted.size(); i-- > 1;) {
      Operation *op = sorted[i - 1].op, *next = sorted[i].op;
      if (next->isBeforeInBlock(op))
        op->moveBefore(next);
    }
  }
}
