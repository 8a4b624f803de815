//===- StartReductions.cpp - collectives that a run only returns ----------===//
//
// Reductions that the last runs of a step only return are in flight while the
// stage continues with other work, and so are exchanges of the prologue, such
// as those of delayed gradients. The plan waits for each result before the
// first op that needs it.
//
//===----------------------------------------------------------------------===//

#include "OverlapCommunication.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Reductions that a last run starts and the plan ends.
struct Started {
  SmallVector<unsigned> results; ///< of the run
  Location location;
};

} // namespace

static bool isStartable(Operation &op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && canStart(collective) && !isParameterGather(&op);
}

/// Whether no op but the function's end uses the results, not even a view.
static bool isOnlyReturned(Operation &op) {
  Operation *end = op.getBlock()->getTerminator();
  return llvm::all_of(op.getUsers(),
                      [&](Operation *user) { return user == end; });
}

/// Whether only the update reads these results of a run.
static bool isForUpdate(RunOp run, ArrayRef<unsigned> results) {
  return llvm::all_of(results, [&](unsigned i) {
    return !run.getResult(i).use_empty() &&
           llvm::all_of(run.getResult(i).getUsers(), [](Operation *user) {
             auto reader = dyn_cast<RunOp>(user);
             return reader && isRunOf(reader, Phase::Update);
           });
  });
}

/// Starts the collectives that a function only returns. Their operands, like
/// their results, move to the caller's memory. In a last run, only the last
/// bucket of copied gradients starts early, so that at most two are in memory.
/// In the prologue, collectives that only the update reads start, after the
/// gathers of parameters, which are needed first.
static SmallVector<Started> startReturned(RunOp run, bool isPrologue,
                                          size_t &numSlots) {
  func::FuncOp function = getCallee(run);
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
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    bool isLate = readsLocal(op) && &op != lastBucket && !isPrologue;
    if (!isStartable(op) || isLate || numSlots == 0 ||
        llvm::any_of(getReaders(op.getResults()),
                     [&](Operation *reader) { return reader != end; }))
      continue;
    SmallVector<unsigned> returned;
    for (OpOperand &use : end->getOpOperands())
      for (Value result : op.getResults())
        if (classes.getRoot(use.get()) == classes.getRoot(result))
          returned.push_back(use.getOperandNumber());
    // startGathersOfStep decides about parameters.
    bool isParameter =
        isa<AllGatherOp>(op) && isa<BlockArgument>(op.getOperand(0));
    if (returned.empty() ||
        (isPrologue && (isParameter || !isForUpdate(run, returned))))
      continue;
    for (Value operand : op.getOperands())
      if (homes.get(operand).kind == MemoryHome::Local &&
          !llvm::is_contained(extra, classes.getRoot(operand)))
        extra.push_back(classes.getRoot(operand));
    --numSlots;
    start(&op);
    if (isPrologue && isOnlyReturned(op))
      op.moveBefore(end);
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

/// Recreates the run of a function that has more results now.
static RunOp replaceRun(RunOp run) {
  OpBuilder builder(run);
  auto call = RunOp::create(
      builder, run.getLoc(), getCallee(run).getResultTypes(),
      run.getCalleeAttr(), run.getInputs(), run.getMicrobatchAttr());
  run.replaceAllUsesWith(call.getResults().take_front(run.getNumResults()));
  run.erase();
  return call;
}

void dtc::startReturnedCollectives(func::FuncOp plan, size_t numGathers) {
  // Exchanges of the prologue may be in flight until the step ends, the gathers
  // of parameters until the last runs.
  size_t numSlots = numPlanSlots - numGathers;
  bool isAfterGathers = false;
  for (auto run : llvm::make_early_inc_range(plan.getOps<RunOp>())) {
    std::optional<Phase> phase = getPhase(run);
    if (!phase ||
        (phase->runs != Phase::Last && phase->kind != Phase::Prologue))
      continue;
    if (phase->runs == Phase::Last && !isAfterGathers) {
      numSlots += numGathers;
      isAfterGathers = true;
    }
    SmallVector<Started> started =
        startReturned(run, phase->kind == Phase::Prologue, numSlots);
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
