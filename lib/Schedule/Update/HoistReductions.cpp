//===- HoistReductions.cpp - reduce gradients where the last is made ------===//
//
// The last run of a weight-gradient function gets a function of its own, to
// which the reductions of what it has accumulated move from the update, with
// the ops that lay gradients side by side. They then stand in the order in
// which the backward pass completes gradients (Li et al., PyTorch Distributed,
// arXiv 2006.15704).
//
//===----------------------------------------------------------------------===//

#include "PrepareUpdate.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtc;

namespace {

/// The last run of a weight-gradient function, and its new function.
struct LastRun {
  func::FuncOp function;
  /// What the function has by now of the update's values.
  IRMapping values;
  /// Operands of the run beside those that it had.
  SmallVector<Value> inputs;
};

/// A reduction that can move.
struct Candidate {
  Operation *reduction;
  RunOp run;                            ///< that makes what it reduces
  llvm::SetVector<Operation *> ops;     ///< pure ones, that come along
  SmallVector<BlockArgument> arguments; ///< of the update, that these read
};

/// Moves what can be moved out of the update of one stage.
class Hoisting {
public:
  Hoisting(func::FuncOp plan, RunOp updateRun)
      : plan(plan), updateRun(updateRun), update(getCallee(updateRun)),
        classes(update.front()) {
    for (auto other : plan.getOps<RunOp>())
      if (getPhase(other) && getPhase(other)->kind == Phase::Weight)
        gradients = Phase::Weight;
  }

  void run();

private:
  std::optional<Candidate> analyze(Operation *reduction);
  bool collect(Value value, Candidate &candidate);
  bool setRun(Candidate &candidate, RunOp run);
  bool isOthersToo(Value value, const Candidate &candidate);
  void move(const Candidate &candidate);
  Value import(BlockArgument argument, LastRun &last, RunOp run);
  void receiveMoved();
  void callLast(RunOp run, LastRun &last);
  void callUpdate();

  Value getOutside(BlockArgument argument) {
    return updateRun.getInputs()[argument.getArgNumber()];
  }

  func::FuncOp plan;
  RunOp updateRun;
  /// The phase that computes gradients of parameters.
  Phase::Kind gradients = Phase::Backward;
  func::FuncOp update;
  AliasClasses classes; ///< of the update as it was
  llvm::MapVector<RunOp, LastRun> lastRuns;
  llvm::MapVector<Operation *, RunOp> moved; ///< in order
  /// What the update receives in its new arguments: values of the functions of
  /// last runs, and then those of the plan.
  SmallVector<std::pair<RunOp, Value>> received;
  SmallVector<Value> receivedOutside;
};

} // namespace

//===----------------------------------------------------------------------===//
// What can move
//===----------------------------------------------------------------------===//

/// A reduction depends on one run, after which there is none of the same
/// function.
bool Hoisting::setRun(Candidate &candidate, RunOp run) {
  bool isNew = !candidate.run;
  if (isNew)
    candidate.run = run;
  return candidate.run == run &&
         (!isNew || llvm::none_of(plan.getOps<RunOp>(), [&](RunOp other) {
           return other.getCallee() == run.getCallee() &&
                  run->isBeforeInBlock(other);
         }));
}

/// Follows a value back to arguments of the update and what has moved already.
bool Hoisting::collect(Value value, Candidate &candidate) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    candidate.arguments.push_back(argument);
    auto run = getOutside(argument).getDefiningOp<RunOp>();
    auto phase = run ? getPhase(run) : std::nullopt;
    return !phase || phase->kind != gradients || setRun(candidate, run);
  }
  Operation *op = value.getDefiningOp();
  if (auto it = moved.find(op); it != moved.end())
    return setRun(candidate, it->second);
  if (candidate.ops.contains(op))
    return true;
  if (!isPure(op) || overwritesOperand(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collect(operand, candidate))
      return false;
  candidate.ops.insert(op); // after what it needs
  return true;
}

/// Whether others need what an all-reduce overwrites.
bool Hoisting::isOthersToo(Value value, const Candidate &candidate) {
  Value root = classes.getRoot(value);
  for (Value member : classes.getMembers(root)) {
    if (member.getDefiningOp() == candidate.reduction)
      break; // from here on it is the sum
    for (Operation *user : member.getUsers())
      if (user != candidate.reduction && !candidate.ops.contains(user))
        return true;
  }
  auto argument = dyn_cast<BlockArgument>(root);
  return argument && !getOutside(argument).hasOneUse();
}

std::optional<Candidate> Hoisting::analyze(Operation *reduction) {
  Candidate candidate{reduction, {}, {}, {}};
  for (Value operand : reduction->getOperands())
    if (!collect(operand, candidate))
      return std::nullopt;
  if (!candidate.run)
    return std::nullopt;
  Operation *end = getCallee(candidate.run).front().getTerminator();
  for (BlockArgument argument : candidate.arguments) {
    auto outside = getOutside(argument);
    Operation *op = outside.getDefiningOp();
    if (op == candidate.run) {
      // The function must be done with it.
      unsigned number = cast<OpResult>(outside).getResultNumber();
      if (!end->getOperand(number).hasOneUse())
        return std::nullopt;
    } else if (op && !op->isBeforeInBlock(candidate.run)) {
      return std::nullopt;
    }
  }
  if (isa<AllReduceOp>(reduction))
    for (Value operand : reduction->getOperands())
      if (isOthersToo(operand, candidate))
        return std::nullopt;
  return candidate;
}

//===----------------------------------------------------------------------===//
// Moving
//===----------------------------------------------------------------------===//

/// What the function of a last run has for an argument of the update.
Value Hoisting::import(BlockArgument argument, LastRun &last, RunOp run) {
  if (Value known = last.values.lookupOrNull(argument))
    return known;
  Value outside = getOutside(argument), inside;
  if (outside.getDefiningOp() == run) {
    inside = last.function.front().getTerminator()->getOperand(
        cast<OpResult>(outside).getResultNumber());
  } else {
    unsigned number = last.function.getNumArguments();
    (void)last.function.insertArgument(number, argument.getType(), {},
                                       argument.getLoc());
    inside = last.function.getArgument(number);
    last.inputs.push_back(outside);
  }
  last.values.map(argument, inside);
  return inside;
}

void Hoisting::move(const Candidate &candidate) {
  auto [it, isNew] = lastRuns.insert({candidate.run, LastRun()});
  LastRun &last = it->second;
  if (isNew) {
    func::FuncOp callee = getCallee(candidate.run);
    Phase phase = *getPhase(callee);
    phase.runs = Phase::Last;
    last.function = callee.clone();
    setPhase(last.function, phase);
    callee->getBlock()->getOperations().insertAfter(callee->getIterator(),
                                                    last.function);
  }
  for (BlockArgument argument : candidate.arguments)
    import(argument, last, candidate.run);
  auto place = [&](Operation *op) {
    OpBuilder builder = OpBuilder::atBlockBegin(&last.function.front());
    Operation *after = nullptr;
    for (Value operand : op->getOperands()) {
      Operation *producer = last.values.lookup(operand).getDefiningOp();
      if (producer && (!after || after->isBeforeInBlock(producer)))
        after = producer;
    }
    if (after)
      builder.setInsertionPointAfter(after);
    builder.clone(*op, last.values);
  };
  for (Operation *op : candidate.ops)
    if (op->getNumResults() > 0 && !last.values.contains(op->getResult(0)))
      place(op);
  place(candidate.reduction);
  moved[candidate.reduction] = candidate.run;
}

/// The update has what has moved as arguments.
void Hoisting::receiveMoved() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(update.front()))) {
    auto it = moved.find(&op);
    if (it == moved.end()) {
      if (op.getNumResults() > 0 && op.use_empty() && isPure(&op))
        op.erase(); // what only reductions needed
      continue;
    }
    for (Value result : op.getResults()) {
      if (result.use_empty()) // what else moved needed it
        continue;
      unsigned number = update.getNumArguments();
      (void)update.insertArgument(number, result.getType(), {}, op.getLoc());
      result.replaceAllUsesWith(update.getArgument(number));
      received.push_back(
          {it->second, lastRuns[it->second].values.lookup(result)});
    }
    op.erase();
  }
}

/// Writes anew which result each argument becomes.
static void resetSignature(func::FuncOp function) {
  Block &body = function.front();
  function.removeResAttrsAttr();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
  annotateUpdates(function);
}

void Hoisting::callLast(RunOp run, LastRun &last) {
  Operation *end = last.function.front().getTerminator();
  SmallVector<Value> returned, inputs(run.getInputs());
  llvm::append_range(inputs, last.inputs);
  SmallVector<unsigned> mine;
  llvm::DenseSet<Value> reduced; // in place
  AliasClasses classes(last.function.front());
  for (auto [i, entry] : llvm::enumerate(received))
    if (entry.first == run) {
      mine.push_back(i);
      reduced.insert(classes.getRoot(entry.second));
    }
  // What is not reduced in place is still there, needed or not.
  SmallVector<OpResult> kept;
  for (OpResult result : run->getResults()) {
    Value inside = end->getOperand(result.getResultNumber());
    if (reduced.contains(classes.getRoot(inside)))
      continue;
    kept.push_back(result);
    returned.push_back(inside);
  }
  for (unsigned i : mine)
    returned.push_back(received[i].second);
  end->setOperands(returned);
  resetSignature(last.function);
  OpBuilder builder(run);
  auto call =
      RunOp::create(builder, run.getLoc(), ValueRange(returned).getTypes(),
                    FlatSymbolRefAttr::get(last.function.getNameAttr()), inputs,
                    run.getMicrobatchAttr());
  for (auto [i, result] : llvm::enumerate(kept))
    result.replaceAllUsesWith(call.getResult(i));
  for (auto [i, number] : llvm::enumerate(mine))
    receivedOutside[number] = call.getResult(kept.size() + i);
}

void Hoisting::callUpdate() {
  SmallVector<Value> inputs(updateRun.getInputs());
  llvm::append_range(inputs, receivedOutside);
  // What it returns as it has received it, the plan has.
  Operation *end = update.front().getTerminator();
  SmallVector<Value> returned;
  SmallVector<OpResult> kept;
  for (OpResult result : updateRun->getResults()) {
    Value inside = end->getOperand(result.getResultNumber());
    if (auto argument = dyn_cast<BlockArgument>(inside)) {
      result.replaceAllUsesWith(inputs[argument.getArgNumber()]);
      continue;
    }
    kept.push_back(result);
    returned.push_back(inside);
  }
  end->setOperands(returned);
  // What was an argument only to be reduced.
  llvm::BitVector dead(update.getNumArguments());
  SmallVector<Value> used;
  for (auto [i, input] : llvm::enumerate(inputs))
    if (update.getArgument(i).use_empty())
      dead.set(i);
    else
      used.push_back(input);
  (void)update.eraseArguments(dead);
  resetSignature(update);
  OpBuilder builder(updateRun);
  auto call = RunOp::create(
      builder, updateRun.getLoc(), ValueRange(returned).getTypes(),
      updateRun.getCalleeAttr(), used, updateRun.getMicrobatchAttr());
  for (auto [result, replacement] : llvm::zip_equal(kept, call.getResults()))
    result.replaceAllUsesWith(replacement);
  updateRun.erase();
}

void Hoisting::run() {
  for (Operation &op : update.front()) {
    // A scalar, such as the norm, is for the update to compute.
    if (!isa<AllReduceOp, ReduceScatterOp>(op) || crossesStages(&op) ||
        getLocalType(op.getOperand(0).getType()).getNumElements() == 1)
      continue;
    if (std::optional<Candidate> candidate = analyze(&op))
      move(*candidate);
  }
  if (moved.empty())
    return;
  receiveMoved();
  receivedOutside.resize(received.size());
  for (auto &[run, last] : lastRuns)
    callLast(run, last);
  callUpdate();
  for (auto &[run, last] : lastRuns) {
    func::FuncOp callee = getCallee(run);
    run.erase();
    if (llvm::none_of(plan.getOps<RunOp>(), [&](RunOp other) {
          return other.getCallee() == callee.getName();
        }))
      callee.erase();
  }
}

void dtc::hoistReductions(func::FuncOp plan) {
  for (auto run : llvm::make_early_inc_range(plan.getOps<RunOp>()))
    if (getPhase(run) == Phase{Phase::Update}) {
      Hoisting(plan, run).run();
      return;
    }
}
