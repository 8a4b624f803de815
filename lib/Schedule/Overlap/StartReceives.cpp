//===- StartReceives.cpp - messages in one order --------------------------===//
//
// A GPU does communication in the order in which it was put on its stream: a
// send is done when it has been received, and what is behind it waits. So all
// ranks have to put all that they do together on their streams in one order. A
// plan first receives what a run needs right before the run, which may be
// behind sends and runs whose own partners wait for this receive. Here receives
// move up to where the one order has them: that of the times at which messages
// are there and runs begin, if all runs take equally long.
//
//===----------------------------------------------------------------------===//

#include "OverlapCommunication.h"
#include <deque>
#include <map>

using namespace mlir;
using namespace dtc;

namespace {

/// When a message is there or a run begins: after so many runs, one after the
/// other, and so many messages since.
using Time = std::pair<int64_t, int64_t>;

/// Where something stands in the one order. Messages precede runs of the same
/// time, which may need them; messages of one time are in the order of stages.
struct Place {
  Time time;
  bool isRun;
  int64_t stage;
  bool operator<(const Place &other) const {
    return std::tie(time, isRun, stage) <
           std::tie(other.time, other.isRun, other.stage);
  }
};

/// What a plan does with other ranks, or may do in what it runs.
struct Item {
  Operation *op;
  Place place;
};

/// Executes the plans of all stages, sends being done at once.
class Execution {
public:
  explicit Execution(ArrayRef<func::FuncOp> plans);
  /// Those of one stage, in the order of its plan, as far as it came.
  ArrayRef<Item> getItems(size_t stage) const { return items[stage]; }

private:
  bool runNext(int64_t stage);
  bool runTogether();
  void add(int64_t stage, Place place) {
    items[stage].push_back({*next[stage]++, place});
  }

  SmallVector<SmallVector<Operation *>> ops; ///< by stage
  SmallVector<Operation **> next;            ///< to be executed, in `ops`
  SmallVector<Time> clocks;
  std::vector<std::vector<Item>> items;
  /// By sender, receiver and tag.
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::deque<Place>> sent;
  /// Functions that meet other stages.
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

/// All stages are at a run in which they meet, and begin it together.
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

/// The items of a stage in the one order. What its plan sends and runs is in
/// it already.
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
