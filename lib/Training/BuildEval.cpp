//===- BuildEval.cpp - what an evaluation asks for ------------------------===//
//
// Sums over the global batch of losses, labels and right answers, as one more
// result of @step. SplitStages makes a function of it.
//
//===----------------------------------------------------------------------===//

#include "ComposedLosses.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/StepFunction.h"

namespace dtc {
#define GEN_PASS_DEF_BUILDEVAL
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// What the batches of an evaluation add up. Without label smoothing and class
/// weights, which shape a training.
struct EvalSums {
  LossSum loss;
  Value numRight; ///< null if the loss has no right answers
};

struct BuildEvalPass : dtc::impl::BuildEvalBase<BuildEvalPass> {
  using BuildEvalBase::BuildEvalBase;
  void runOnOperation() override;

private:
  FailureOr<EvalSums> build(func::FuncOp step, Value predictions,
                            ImplicitLocOpBuilder &builder);
};

} // namespace

/// The labels; null if there are none, since the model computes the loss.
static Value findLabels(func::FuncOp step) {
  for (BlockArgument argument : step.getArguments())
    if (StringAttr kind = getArgString(argument, attr::kind);
        kind && kind == "label")
      return argument;
  return {};
}

FailureOr<EvalSums> BuildEvalPass::build(func::FuncOp step, Value predictions,
                                         ImplicitLocOpBuilder &builder) {
  StringRef kind = StringRef(loss).split(':').first;
  if (kind == "output")
    return EvalSums{buildElementSum(builder, predictions, replicas), Value()};
  Value labels = findLabels(step);
  if (!labels)
    return step.emitError("has no labels for loss '") << kind << "'";
  if (kind == "mse")
    return EvalSums{buildSquaredError(builder, predictions, labels, replicas),
                    Value()};
  if (kind == "bce")
    return EvalSums{
        buildBinaryCrossEntropy(builder, predictions, labels, replicas),
        buildNumRightSigns(builder, predictions, labels)};
  std::optional<int64_t> ignored;
  if (int64_t value; !StringRef(ignoreIndex).getAsInteger(10, value))
    ignored = value;
  return EvalSums{
      buildCrossEntropy(builder, predictions, labels, ignored, replicas),
      buildNumRight(builder, predictions, labels, ignored)};
}

void BuildEvalPass::runOnOperation() {
  FailureOr<func::FuncOp> found = findFunction(getOperation(), stepName);
  if (failed(found))
    return signalPassFailure();
  func::FuncOp step = *found;
  std::optional<unsigned> number =
      findResult(step, attr::output, "predictions");
  if (!number) {
    step.emitError("no result with dtc.output = \"predictions\"; add a loss "
                   "first");
    return signalPassFailure();
  }
  func::ReturnOp ret = getReturn(step);
  Value predictions = ret.getOperand(*number);
  ImplicitLocOpBuilder builder(predictions.getLoc(), ret);
  FailureOr<EvalSums> sums = build(step, predictions, builder);
  if (failed(sums))
    return signalPassFailure();

  auto type = RankedTensorType::get(3, builder.getF64Type());
  SmallVector<Value> parts;
  // What is not there is one loss, or no right answer.
  for (auto [value, otherwise] :
       {std::pair(sums->loss.sum, 0.0), std::pair(sums->loss.count, 1.0),
        std::pair(sums->numRight, 0.0)}) {
    auto part = type.clone({1});
    parts.push_back(
        value ? ReshapeOp::create(builder, part, value).getResult()
              : ConstantOp::create(builder, part,
                                   DenseElementsAttr::get(part, otherwise))
                    .getResult());
  }
  Value eval = ConcatOp::create(builder, type, parts, /*axis=*/0);
  eval = SumOverStagesOp::create(builder, type, eval);

  ret.setOperand(*number, eval);
  step.setResultAttr(*number, attr::output, builder.getStringAttr(evalName));
  step.setType(
      builder.getFunctionType(step.getArgumentTypes(), ret.getOperandTypes()));
}
