//===- StartReductions.cpp - gradients of a last run ----------------------===//
//
// What the last runs of a step reduce and only return is in flight while the
// stage goes on with other work: the plan awaits each result before the first
// op that needs it.
//
//===----------------------------------------------------------------------===//

#include "OverlapCommunication.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"

using namespace mlir;
using namespace dtc;

namespace {

/// What a last run starts and the plan waits for.
struct Started {
  SmallVector<unsigned> results; ///< of the run
  Location location;
};

} // namespace

static bool isStartable(Operation &op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && canStart(collective) && !isParameterGather(&op);
}

/// Starts what a function only returns. What it reads then lies in the caller's
/// memory, as what it makes does. Only the last bucket that gradients are
/// copied to starts early, so that at most two are in memory.
static SmallVector<Started> startReturned(func::FuncOp function,
                                          size_t &numSlots) {
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
    if (isStartable(op) && readsLocal(op))
      lastBucket = &op;
  SmallVector<Value> extra;
  for (Operation &op : function.front()) {
    if (!isStartable(op) || (readsLocal(op) && &op != lastBucket) ||
        numSlots == 0 ||
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
    --numSlots;
    start(&op);
    started.push_back({returned, op.getLoc()});
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

void dtc::startReductionsOfLastRuns(func::FuncOp plan) {
  size_t numSlots = numPlanSlots; // those of gathers are free again
  for (auto run : llvm::make_early_inc_range(plan.getOps<RunOp>())) {
    std::optional<Phase> phase = getPhase(run);
    if (!phase || phase->runs != Phase::Last)
      continue;
    SmallVector<Started> started = startReturned(getCallee(run), numSlots);
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
                 results.front(), entry.location);
    }
  }
}
