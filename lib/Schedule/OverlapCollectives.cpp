//===- OverlapCollectives.cpp - compute while ranks exchange --------------===//
//
// A collective whose result is not needed at once starts where it stands, and a
// wait comes before the first op that needs it, in its function or, for what
// the last runs of a step reduce, in the plan.
//
//===----------------------------------------------------------------------===//

#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Phase.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static bool isStartable(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.isContiguous() && !op->hasAttr(attr::slot) &&
         !crossesStages(op) && !isParameterGather(op);
}

//===----------------------------------------------------------------------===//
// Within a function: one is under way at a time
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

static void overlapWithin(func::FuncOp function) {
  SmallVector<Operation *> collectives;
  for (Operation &op : function.front())
    if (isStartable(&op))
      collectives.push_back(&op);
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
    start(op, innerSlot);
    waitBefore(first, op->getResult(0), op->getLoc(), innerSlot);
  }
}

//===----------------------------------------------------------------------===//
// From a last run to the plan
//===----------------------------------------------------------------------===//

namespace {

/// What a last run starts and the plan waits for.
struct Started {
  int64_t slot;
  SmallVector<unsigned> results; ///< of the run
  Location location;
};

} // namespace

/// Starts what a function only returns. What it reads lies in the caller's
/// memory then, as what it makes does; of buckets that gradients are copied to
/// only the last, that there are never more than two.
static SmallVector<Started> startReturned(func::FuncOp function,
                                          int64_t &nextSlot) {
  SmallVector<Started> started;
  AliasClasses classes(function.front());
  MemoryHomes homes(function, classes);
  Operation *end = function.front().getTerminator();
  auto readsLocal = [&](Operation &op) {
    return llvm::any_of(op.getOperands(), [&](Value operand) {
      return homes.get(operand).kind == MemoryHome::Local;
    });
  };
  Operation *lastBucket = nullptr;
  for (Operation &op : function.front())
    if (isStartable(&op) && readsLocal(op))
      lastBucket = &op;
  SmallVector<Value> extra;
  for (Operation &op : function.front()) {
    if (!isStartable(&op) || (readsLocal(op) && &op != lastBucket) ||
        nextSlot == endCollectiveSlot ||
        llvm::any_of(getReaders(op.getResults()),
                     [&](Operation *reader) { return reader != end; }))
      continue;
    SmallVector<unsigned> returned;
    for (OpOperand &use : end->getOpOperands())
      for (Value result : op.getResults())
        if (classes.getRoot(use.get()) == classes.getRoot(result))
          returned.push_back(use.getOperandNumber());
    if (returned.empty())
      continue;
    for (Value operand : op.getOperands())
      if (homes.get(operand).kind == MemoryHome::Local &&
          !llvm::is_contained(extra, classes.getRoot(operand)))
        extra.push_back(classes.getRoot(operand));
    start(&op, nextSlot);
    started.push_back({nextSlot++, returned, op.getLoc()});
  }
  if (!extra.empty()) {
    end->insertOperands(end->getNumOperands(), extra);
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(),
                                       end->getOperandTypes()));
  }
  return started;
}

/// The run of a function that has got more results.
static RunOp replaceRun(RunOp run) {
  OpBuilder builder(run);
  auto call = RunOp::create(
      builder, run.getLoc(), getCallee(run).getResultTypes(),
      run.getCalleeAttr(), run.getInputs(), run.getMicrobatchAttr());
  run.replaceAllUsesWith(call.getResults().take_front(run.getNumResults()));
  run.erase();
  return call;
}

static void overlapLastRuns(func::FuncOp plan) {
  int64_t nextSlot = firstPlanSlot;
  for (auto run : llvm::make_early_inc_range(plan.getOps<RunOp>())) {
    std::optional<Phase> phase = Phase::parse(run.getCallee());
    if (!phase || phase->runs != Phase::Last)
      continue;
    SmallVector<Started> started = startReturned(getCallee(run), nextSlot);
    if (started.empty())
      continue;
    RunOp call = replaceRun(run);
    for (const Started &entry : started) {
      SmallVector<Value> results =
          llvm::map_to_vector(entry.results, [&](unsigned i) -> Value {
            return call.getResult(i);
          });
      SmallVector<Operation *> readers = getReaders(results);
      waitBefore(readers.empty() ? plan.front().getTerminator()
                                 : readers.front(),
                 results.front(), entry.location, entry.slot);
    }
  }
}

namespace {

struct OverlapCollectivesPass
    : dtc::impl::OverlapCollectivesBase<OverlapCollectivesPass> {
  void runOnOperation() override {
    FailureOr<Stages> stages = getStages(getOperation());
    if (failed(stages))
      return signalPassFailure();
    FailureOr<SmallVector<func::FuncOp>> plans = getScheduledPlans(*stages);
    if (failed(plans))
      return signalPassFailure();
    llvm::for_each(*plans, overlapLastRuns);
    for (ModuleOp stage : *stages)
      for (auto function : stage.getOps<func::FuncOp>())
        if (function.getName() != planName)
          overlapWithin(function);
  }
};

} // namespace
