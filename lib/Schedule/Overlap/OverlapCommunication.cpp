//===- OverlapCommunication.cpp - overlap communication -------------------===//
//
// The only place that decides which communication starts early: first transfers
// that start in one function and end in another, then those within one. A
// collective starts at its position, or moves to an earlier one. A wait comes
// before the first op that needs its result.
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
// Within a function: one collective in flight at a time
//===----------------------------------------------------------------------===//

/// Whether an op can move down to `limit`: no op before that reads its results
/// or overwrites its operands.
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

/// Moves readers whose results are only returned down to the next collective.
static void overlapWithin(func::FuncOp function) {
  SmallVector<Operation *> collectives;
  for (auto collective : function.getOps<CollectiveOpInterface>())
    if (canStart(collective) && !isParameterGather(collective))
      collectives.push_back(collective);
  Operation *end = function.front().getTerminator();
  AliasClasses classes(function.front()); // valid wherever ops move
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
    // No op may overwrite its operands, either.
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
    // Skip views: they take no time that could hide the collective.
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
// Within a function: prefetch of parameters
//===----------------------------------------------------------------------===//

/// Prefetches parameters (Zhao et al., PyTorch FSDP, arXiv 2304.11277).
static void prefetch(func::FuncOp function) {
  // In the order of use. It differs from the order of gathers if one of several
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
    // Nothing can hide the first gather, one that is read together with
    // another, or one that already precedes the previous reader.
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
        size_t numGathers = startGathersOfStep(plan);
        startReturnedCollectives(plan, numGathers);
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
