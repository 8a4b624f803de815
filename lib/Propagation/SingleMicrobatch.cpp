//===- SingleMicrobatch.cpp - values of a step's only micro-batch ---------===//
//
// A value belongs to the micro-batch if its layout has a split on mb, along
// some dimension or none. If an op of the micro-batch needs a value that is
// partial or follows from a sum, that value joins the micro-batch, with all
// values between it and the sum.
//
//===----------------------------------------------------------------------===//

#include "dtc/Propagation/SingleMicrobatch.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Dialect/StepFunction.h"

using namespace mlir;
using namespace dtc;

static bool isOnTime(Value value) {
  return getLayout(value.getType()).getEntry(MeshAttr::timeAxis).has_value();
}

static bool isOfMicrobatch(Value value) {
  return getLayout(value.getType()).isSplit(MeshAttr::timeAxis);
}

/// Replaces the mb entry of a value's layout.
static void setTime(Value value, AxisLayout entry) {
  LayoutAttr layout = getLayout(value.getType());
  SmallVector<AxisLayout> entries(
      layout.without(MeshAttr::timeAxis).getEntries());
  entries.push_back(entry);
  value.setType(withLayout(
      value.getType(), LayoutAttr::getCanonical(layout.getMesh(), entries)));
}

static StringAttr getTimeAxis(Value value) {
  return StringAttr::get(value.getContext(), MeshAttr::timeAxis);
}

SingleMicrobatch::SingleMicrobatch(func::FuncOp step, MeshAttr mesh)
    : isActive(mesh.getSize(MeshAttr::timeAxis) == 1) {
  Block &body = step.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (step.getArgAttr(argument.getArgNumber(), attr::input))
      ofInputs.insert(argument);
  // Gradients whose terms are compressed end here; the decoded ones follow from
  // their sums.
  llvm::DenseSet<Operation *> afterSums;
  for (Operation &op : body) {
    if (auto terms = dyn_cast<TermsOp>(op)) {
      gradients.insert(terms.getX());
      if (Operation *producer = terms.getX().getDefiningOp())
        ofMicrobatch.insert(producer);
    }
    if (isa<TermsOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return afterSums.contains(operand.getDefiningOp());
        }))
      afterSums.insert(&op);
  }
  for (OpOperand &returned : body.getTerminator()->getOpOperands()) {
    unsigned number = returned.getOperandNumber();
    Value gradient = getGradient(step, number);
    if (gradient && afterSums.contains(gradient.getDefiningOp()))
      gradient = {};
    if (gradient)
      gradients.insert(gradient);
    auto output = step.getResultAttrOfType<StringAttr>(number, attr::output);
    bool isOfMicrobatch = isRecorded(step, number) ||
                          (output && (output == "loss" || output == evalName));
    if (Value value = isOfMicrobatch ? returned.get() : gradient)
      if (Operation *op = value.getDefiningOp())
        ofMicrobatch.insert(op);
  }
  for (Operation &op : llvm::reverse(body))
    if (ofMicrobatch.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          ofMicrobatch.insert(producer);
}

void SingleMicrobatch::joinOperands(Operation *op) {
  if (!isActive || llvm::none_of(op->getOperands(), isOfMicrobatch))
    return;
  for (Value operand : op->getOperands())
    if (isLate(operand) || (isOnTime(operand) && !isOfInputs(operand)))
      join(operand);
}

/// Moves a value into the micro-batch, with the values that it depends on and
/// those that depend on it.
void SingleMicrobatch::join(Value first) {
  SmallVector<Value> work = {first};
  auto joinAll = [&](ValueRange values) { llvm::append_range(work, values); };
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (isOfMicrobatch(value) || (!isLate(value) && !isOnTime(value)))
      continue;
    setTime(value, AxisLayout::each(getTimeAxis(value)));
    late.erase(value);
    Operation *op = value.getDefiningOp();
    joinAll(op->getOperands());
    for (Value result : op->getResults())
      if (isLate(result))
        work.push_back(result);
    for (Operation *user : llvm::to_vector(value.getUsers())) {
      if (user->getNumResults() == 0 ||
          !getLayout(user->getResult(0).getType()))
        continue; // has no layouts yet
      if (isa<SumOverStagesOp>(user)) {
        user->replaceUsesOfWith(value, sum(value, user));
      } else if (!isa<ReshardOp>(user)) {
        joinAll(user->getOperands());
        for (Value result : user->getResults())
          if (isLate(result) || isa<BoundaryOp>(user))
            work.push_back(result);
      } else if (isOnTime(user->getResult(0))) {
        work.push_back(user->getResult(0));
      }
    }
    if (gradients.contains(value))
      leave(value);
  }
}

/// The sum over micro-batches for an op that runs once a step.
Value SingleMicrobatch::sum(Value value, Operation *user) {
  OpBuilder builder(user);
  LayoutAttr layout = getLayout(value.getType()).without(MeshAttr::timeAxis);
  Value result = ReshardOp::create(builder, user->getLoc(),
                                   withLayout(value.getType(), layout), value);
  late.insert(result);
  return result;
}

/// Makes a gradient accumulate over micro-batches, whatever its operands are.
void SingleMicrobatch::leave(Value gradient) {
  OpBuilder builder(gradient.getContext());
  builder.setInsertionPointAfterValue(gradient);
  StringAttr axis = getTimeAxis(gradient);
  LayoutAttr layout = getLayout(gradient.getType());
  SmallVector<AxisLayout> entries(layout.without(axis.getValue()).getEntries());
  entries.push_back(AxisLayout::partial(axis, Reduction::sum));
  Value sum = AsPartialOp::create(
      builder, gradient.getLoc(),
      withLayout(gradient.getType(),
                 LayoutAttr::getCanonical(layout.getMesh(), entries)),
      gradient, builder.getArrayAttr(axis));
  gradient.replaceUsesWithIf(sum, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    bool stays = isa<ReshardOp>(user) && isOfMicrobatch(user->getResult(0));
    return user != sum.getDefiningOp() && !ofMicrobatch.contains(user) &&
           !stays;
  });
  sums[gradient] = sum;
}

void SingleMicrobatch::replace(Operation *op, Operation *first,
                               ValueRange results) {
  for (auto [old, result] : llvm::zip_equal(op->getResults(), results))
    if (gradients.erase(old))
      gradients.insert(result);
  if (ofMicrobatch.erase(op))
    for (Operation *made = first; made != op; made = made->getNextNode())
      ofMicrobatch.insert(made);
}

void SingleMicrobatch::note(Operation *op) {
  if (!isActive)
    return;
  bool inputsOnly =
      !isa<SumOverStagesOp>(op) &&
      llvm::all_of(op->getOperands(), [&](Value v) { return isOfInputs(v); });
  bool isSum = llvm::any_of(op->getOperands(), [&](Value operand) {
    return isLate(operand) || isOnTime(operand);
  });
  for (Value result : op->getResults()) {
    if (inputsOnly)
      ofInputs.insert(result);
    else if (isSum && !isOnTime(result))
      late.insert(result);
    if (gradients.contains(result) && isOfMicrobatch(result))
      leave(result);
  }
}
