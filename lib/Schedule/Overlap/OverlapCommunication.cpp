//===- OverlapCommunication.cpp - compute while ranks exchange ------------===//
//
// The one place that decides what communication starts early: first what starts
// in one function and is awaited in another, then what is in flight within one.
// A collective starts where it stands or is moved to; a wait comes before the
// first op that needs its result.
//
//===----------------------------------------------------------------------===//

#include "OverlapCommunication.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Schedule/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_OVERLAPCOMMUNICATION
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

bool dtc::canStart(CollectiveOpInterface collective) {
  return collective.isContiguous() && !collective->hasAttr(attr::async) &&
         !crossesStages(collective);
}

//===----------------------------------------------------------------------===//
// Within a function: one other collective is in flight at a time
//===----------------------------------------------------------------------===//

/// Whether an op can move down to `limit`: nobody needs before what it writes,
/// nor overwrites what it reads.
static bool canSink(Operation *op, Operation *limit,
                    const AliasClasses &classes) {
  if (!isa<LaunchOp>(op))
    return false;
  llvm::DenseSet<Value> touched, written;
  for (Value operand : op->getOperands())
    touched.insert(classes.getRoot(operand));
  for (Value result : op->getResults())
    written.insert(classes.getRoot(result));
  for (Operation *other = op->getNextNode(); other != limit;
       other = other->getNextNode()) {
    for (Value operand : other->getOperands())
      if (written.contains(classes.getRoot(operand)))
        return false;
    for (OpResult result : other->getResults())
      if (classes.isUpdate(result) && touched.contains(classes.getRoot(result)))
        return false;
  }
  return true;
}

/// Readers whose results are only returned move down to the next collective.
static void overlapWithin(func::FuncOp function) {
  SmallVector<Operation *> collectives;
  for (auto collective : function.getOps<CollectiveOpInterface>())
    if (canStart(collective) && !isParameterGather(collective))
      collectives.push_back(collective);
  Operation *end = function.front().getTerminator();
  AliasClasses classes(function.front()); // wherever ops move
  for (auto [i, op] : llvm::enumerate(collectives)) {
    Operation *limit = i + 1 < collectives.size() ? collectives[i + 1] : end;
    SmallVector<Operation *> readers = getReaders(op->getResults());
    for (Operation *reader : readers)
      if (reader->isBeforeInBlock(limit) && canSink(reader, limit, classes))
        reader->moveBefore(limit);
    Operation *first = limit;
    for (Operation *reader : readers)
      if (reader->isBeforeInBlock(first))
        first = reader;
    // Nor may anybody overwrite what it reads.
    llvm::DenseSet<Value> read;
    for (Value operand : op->getOperands())
      read.insert(classes.getRoot(operand));
    for (Operation *other = op->getNextNode(); other != first;
         other = other->getNextNode())
      if (llvm::any_of(other->getResults(), [&](OpResult result) {
            return classes.isUpdate(result) &&
                   read.contains(classes.getRoot(result));
          })) {
        first = other;
        break;
      }
    // Something to hide behind?
    Operation *next = op->getNextNode();
    while (next != first && isView(next))
      next = next->getNextNode();
    if (next == first)
      continue;
    start(op);
    waitBefore(first, op->getResult(0), op->getLoc());
  }
}

//===----------------------------------------------------------------------===//
// Within a function: the next parameters, while those before are in use
//===----------------------------------------------------------------------===//

/// Zhao et al., PyTorch FSDP, arXiv 2304.11277.
static void prefetch(func::FuncOp function) {
  // In the order of use, which is not that of the gathers if one of several
  // users has moved up.
  SmallVector<std::pair<Operation *, AllGatherOp>> gathers;
  for (auto gather : function.getOps<AllGatherOp>())
    if (isParameterGather(gather) && canStart(gather))
      if (SmallVector<Operation *> readers = getReaders(gather.getY());
          !readers.empty())
        gathers.push_back({readers.front(), gather});
  llvm::sort(gathers, [](const auto &a, const auto &b) {
    return a.first == b.first ? a.second->isBeforeInBlock(b.second)
                              : a.first->isBeforeInBlock(b.first);
  });
  Operation *previous = nullptr;
  for (auto &[reader, gather] : gathers) {
    // The first has nothing to hide behind, nor has what is read at once with
    // another, or is there already.
    if (previous && previous != reader && previous->isBeforeInBlock(gather)) {
      gather->moveBefore(previous);
      start(gather);
      waitBefore(reader, gather.getY(), gather.getLoc());
    }
    previous = reader;
  }
}

//===----------------------------------------------------------------------===//

namespace {

struct OverlapCommunicationPass
    : dtc::impl::OverlapCommunicationBase<OverlapCommunicationPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (const Stages &stages : *programs) {
      FailureOr<SmallVector<func::FuncOp>> plans = getScheduledPlans(stages);
      if (failed(plans))
        return signalPassFailure();
      for (func::FuncOp plan : *plans) {
        startGathersOfStep(plan);
        startReductionsOfLastRuns(plan);
      }
      startReceives(*plans);
      bool isStep = &stages == &programs->front();
      for (ModuleOp stage : stages)
        for (auto function : stage.getOps<func::FuncOp>()) {
          if (function.getName() == planName)
            continue;
          if (isStep)
            overlapWithin(function);
          prefetch(function);
        }
    }
  }
};

} // namespace
