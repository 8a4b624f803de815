//===- HoistReductions.cpp - reduce gradients early -----------------------===//
//
// The last run of a weight-gradient function gets its own function. The
// reductions of its accumulated gradients move there from the update, with the
// ops that put gradients side by side. They then run in the order in which the
// backward pass completes gradients (Li et al., PyTorch Distributed, arXiv
// 2006.15704).
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
  /// The update's values that the function already has.
  IRMapping values;
  /// New operands of the run.
  SmallVector<Value> inputs;
};

/// A reduction that can move.
struct Candidate {
  Operation *reduction;
  RunOp run;                            ///< run that makes its operands
  llvm::SetVector<Operation *> ops;     ///< pure ops that move along
  SmallVector<BlockArgument> arguments; ///< of the update, read by these
};

/// Moves reductions out of the update of one stage.
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
  AliasClasses classes; ///< of the update before changes
  llvm::MapVector<RunOp, LastRun> lastRuns;
  llvm::MapVector<Operation *, RunOp> moved; ///< in order
  /// Values for the new arguments of the update: first from the functions of
  /// last runs, then from the plan.
  SmallVector<std::pair<RunOp, Value>> received;
  SmallVector<Value> receivedOutside;
};

} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Sets the run that a reduction depends on. Returns false if it depends on
/// several, or if a later run has the same function.
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

/// Follows a value back to arguments of the update and to ops that have already
/// moved.
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
  candidate.ops.insert(op); // after its operands
  return true;
}

/// Whether other ops need a value that an all-reduce overwrites.
bool Hoisting::isOthersToo(Value value, const Candidate &candidate) {
  Value root = classes.getRoot(value);
  for (Value member : classes.getMembers(root)) {
    if (member.getDefiningOp() == candidate.reduction)
      break; // later values are the sum
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
      // The function must not use it after the reduction.
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

/// The value of an update's argument in the function of a last run.
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

/// Adds moved values that the update uses to its arguments.
void Hoisting::receiveMoved() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(update.front()))) {
    auto it = moved.find(&op);
    if (it == moved.end()) {
      if (op.getNumResults() > 0 && op.use_empty() && isPure(&op))
        op.erase(); // only reductions needed it
      continue;
    }
    for (Value result : op.getResults()) {
      if (result.use_empty()) // only moved ops needed it
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

/// Recomputes the update attribute of each argument.
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
  // Values that are not reduced in place stay results, needed or not.
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
  // The plan uses an unchanged argument directly instead of a result.
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
  // Remove arguments that were only reduced.
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
    // The update computes scalars such as the norm itself.
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
