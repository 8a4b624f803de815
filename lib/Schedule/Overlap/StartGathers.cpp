//===- StartGathers.cpp - parameters gathered once ------------------------===//
//
// Parameters that a step gathers once, for all micro-batches, are in flight
// while the first micro-batch computes. The prologue starts the gathers in the
// order of use. The first run that reads a parameter gets its own function,
// which waits right before the reader.
//
//===----------------------------------------------------------------------===//

#include "OverlapCommunication.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Gathered.h"
#include "dtc/Plan/Skeleton.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dtc;

namespace {

/// A gather and its first reader.
struct Gather {
  AllGatherOp op;
  size_t number;
  Value whole;                ///< in the plan
  Operation *reader;          ///< in the plan
  Operation *inner = nullptr; ///< reader in the forward pass that it runs
};

} // namespace

/// Whether a gather reads the caller's memory, and its result is only returned.
static bool isOnlyReturned(AllGatherOp gather) {
  Operation *end = gather->getBlock()->getTerminator();
  return isa<BlockArgument>(gather.getX()) && gather.getY().hasOneUse() &&
         *gather->user_begin() == end;
}

/// The first op that reads a value of the plan in the function of a run; null
/// if there is none.
static Operation *findReader(RunOp run, Value value) {
  SmallVector<Value> arguments;
  for (auto [i, input] : llvm::enumerate(run.getInputs()))
    if (input == value)
      arguments.push_back(getCallee(run).getArgument(i));
  SmallVector<Operation *> readers = getReaders(arguments);
  return readers.empty() ? nullptr : readers.front();
}

/// The gathers that can start, in the order of use.
static SmallVector<Gather> collect(func::FuncOp plan) {
  SmallVector<Gather> gathers;
  for (const Gathered &gathered : getGathered(plan)) {
    if (!canStart(gathered.op) || !isOnlyReturned(gathered.op))
      continue;
    SmallVector<Operation *> readers = getReaders(gathered.whole);
    if (!readers.empty())
      gathers.push_back(
          {gathered.op, gathers.size(), gathered.whole, readers.front()});
  }
  // The gathers must end, and free their slots, before the last runs of a step
  // start reductions.
  auto runs = plan.getOps<RunOp>();
  auto last = llvm::find_if(runs, [](RunOp run) {
    std::optional<Phase> phase = getPhase(run);
    return phase && phase->runs == Phase::Last;
  });
  if (last != runs.end())
    llvm::erase_if(gathers, [&](const Gather &gather) {
      return !gather.reader->isBeforeInBlock(*last);
    });
  for (Gather &gather : gathers)
    if (auto run = dyn_cast<RunOp>(gather.reader);
        run && isRunOf(run, Phase::Forward))
      gather.inner = findReader(run, gather.whole);
  llvm::sort(gathers, [](const Gather &a, const Gather &b) {
    if (a.reader != b.reader)
      return a.reader->isBeforeInBlock(b.reader);
    if (a.inner == b.inner)
      return a.number < b.number;
    return a.inner && (!b.inner || a.inner->isBeforeInBlock(b.inner));
  });
  return gathers;
}

/// Inserts waits into the function of a first run.
static void awaitInside(RunOp run, ArrayRef<Gather> gathers) {
  func::FuncOp callee = getCallee(run);
  IRMapping mapping;
  func::FuncOp first = callee.clone(mapping);
  Phase phase = *getPhase(callee);
  phase.runs = Phase::First;
  setPhase(first, phase);
  callee->getBlock()->getOperations().insertAfter(callee->getIterator(), first);
  run.setCalleeAttr(FlatSymbolRefAttr::get(first.getNameAttr()));
  for (Gather gather : gathers) {
    auto input = llvm::find(run.getInputs(), gather.whole);
    waitBefore(mapping.lookup(gather.inner),
               first.getArgument(input - run.getInputs().begin()),
               gather.op.getLoc());
  }
  auto plan = run->getParentOfType<func::FuncOp>();
  if (llvm::none_of(plan.getOps<RunOp>(), [&](RunOp other) {
        return other.getCallee() == callee.getName();
      }))
    callee.erase();
}

size_t dtc::startGathersOfStep(func::FuncOp plan) {
  SmallVector<Gather> gathers = collect(plan);
  // The first gathers have the least time to hide in, so they stay synchronous
  // if there are not enough slots.
  if (gathers.size() > numPlanSlots)
    gathers.erase(gathers.begin(), gathers.end() - numPlanSlots);
  llvm::MapVector<Operation *, SmallVector<Gather>> firstRuns;
  for (Gather &gather : gathers) {
    start(gather.op);
    // Move it behind the other ops of the prologue: collectives of a group end
    // in the order in which they begin.
    gather.op->moveBefore(gather.op->getBlock()->getTerminator());
    if (gather.inner)
      firstRuns[gather.reader].push_back(gather);
    else
      waitBefore(gather.reader, gather.whole, gather.op.getLoc());
  }
  for (auto &[run, needed] : firstRuns)
    awaitInside(cast<RunOp>(run), needed);
  return gathers.size();
}
