//===- BuildEval.cpp - the sums that an evaluation returns ----------------===//
//
// Sums over the global batch of losses, labels and correct predictions become
// one more result of @step. SplitStages moves them to a function of their own.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/ComposedLosses.h"
#include "dtc/Training/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_BUILDEVAL
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Counts for each class are limited to this number of classes.
constexpr int64_t maxCountedClasses = 1024;

namespace {

struct BuildEvalPass : dtc::impl::BuildEvalBase<BuildEvalPass> {
  using BuildEvalBase::BuildEvalBase;
  void runOnOperation() override;

private:
  LogicalResult build(func::FuncOp step, Value predictions);
  void buildOfClasses(func::FuncOp step, Value logits, BlockArgument labels);
  /// Appends a sum, or `otherwise` if the value is null.
  void add(StringRef name, Value value, double otherwise = 0);
  void add(const LossSum &loss, StringRef sum, StringRef count);
  void add(const ClassCounts &counts);

  std::optional<ImplicitLocOpBuilder> builder;
  SmallVector<Value> parts;
  SmallVector<Attribute> names;
  bool isLanguageModel = false;
};

} // namespace

/// The labels; null if the model computes the loss.
static BlockArgument findLabels(func::FuncOp step) {
  for (BlockArgument argument : step.getArguments())
    if (StringAttr kind = getArgString(argument, attr::kind);
        kind && kind == "label")
      return argument;
  return {};
}

/// The number of values of an input; 0 if it is unknown.
static int64_t getBound(func::FuncOp step, BlockArgument argument) {
  auto bound = step.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(),
                                                        attr::bound);
  return bound ? bound[0] : 0;
}

/// Whether the labels are sequences like those of an input. Then the loss is
/// that of a language model, and its exponential is the perplexity.
static bool predictsTokens(func::FuncOp step, BlockArgument labels) {
  auto isSequence = [](BlockArgument argument) {
    return cast<ShapedType>(argument.getType()).getRank() == 2;
  };
  int64_t classes = getBound(step, labels);
  return classes && isSequence(labels) &&
         llvm::any_of(step.getArguments(), [&](BlockArgument argument) {
           return argument != labels && isSequence(argument) &&
                  getBound(step, argument) == classes;
         });
}

void BuildEvalPass::add(StringRef name, Value value, double otherwise) {
  auto type = RankedTensorType::get(1, builder->getF64Type());
  if (!value)
    value = ConstantOp::create(*builder, type,
                               DenseElementsAttr::get(type, otherwise));
  int64_t size = cast<ShapedType>(value.getType()).getNumElements();
  if (value.getType() != type.clone({size}))
    value = ReshapeOp::create(*builder, type.clone({size}), value);
  parts.push_back(value);
  names.push_back(builder->getDictionaryAttr(
      {builder->getNamedAttr("name", builder->getStringAttr(name)),
       builder->getNamedAttr("size", builder->getI64IntegerAttr(size))}));
}

void BuildEvalPass::add(const LossSum &loss, StringRef sum, StringRef count) {
  add(sum, loss.sum);
  add(count, loss.count, 1);
}

void BuildEvalPass::add(const ClassCounts &counts) {
  for (auto [name, value] : {std::pair("right", counts.numRight),
                             {"top5", counts.numInTop5},
                             {"class_hits", counts.hits},
                             {"class_predictions", counts.predicted},
                             {"class_labels", counts.labels}})
    if (value)
      add(name, value);
}

void BuildEvalPass::buildOfClasses(func::FuncOp step, Value logits,
                                   BlockArgument labels) {
  std::optional<int64_t> ignored;
  if (int64_t value; !StringRef(ignoreIndex).getAsInteger(10, value))
    ignored = value;
  add(buildCrossEntropy(*builder, logits, labels, ignored, replicas), "loss",
      "count");
  if (labelSmoothing != 0 || !classWeights.empty()) {
    SmallVector<double> weights(classWeights.begin(), classWeights.end());
    add(buildWeightedCrossEntropy(*builder, logits, labels,
                                  {labelSmoothing, weights, ignored}, replicas),
        "training_loss", "training_count");
  }
  isLanguageModel = predictsTokens(step, labels);
  // The model's number of classes: logits may have padding columns.
  int64_t classes = getBound(step, labels);
  if (classes == 0)
    classes = cast<ShapedType>(logits.getType()).getShape().back();
  add(countClasses(*builder, logits, labels, ignored,
                   /*inTop5=*/!isLanguageModel && classes > 5,
                   /*byClass=*/!isLanguageModel &&
                       classes <= maxCountedClasses));
}

LogicalResult BuildEvalPass::build(func::FuncOp step, Value predictions) {
  StringRef kind = StringRef(loss).split(':').first;
  if (kind == "output") {
    add(buildElementSum(*builder, predictions, replicas), "loss", "count");
    return success();
  }
  BlockArgument labels = findLabels(step);
  if (!labels)
    return step.emitError("has no labels for loss '") << kind << "'";
  if (kind == "mse") {
    add(buildSquaredError(*builder, predictions, labels, replicas), "loss",
        "count");
  } else if (kind == "bce") {
    add(buildBinaryCrossEntropy(*builder, predictions, labels, replicas),
        "loss", "count");
    auto type = cast<ShapedType>(predictions.getType());
    add(countSigns(*builder, predictions, labels,
                   type.getRank() > 1 &&
                       type.getShape().back() <= maxCountedClasses));
  } else {
    buildOfClasses(step, predictions, labels);
  }
  return success();
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
  builder.emplace(predictions.getLoc(), ret);
  parts.clear();
  names.clear();
  isLanguageModel = false;
  if (failed(build(step, predictions)))
    return signalPassFailure();

  int64_t size = 0;
  for (Value part : parts)
    size += cast<ShapedType>(part.getType()).getNumElements();
  auto type = RankedTensorType::get(size, builder->getF64Type());
  Value eval = ConcatOp::create(*builder, type, parts, /*axis=*/0);
  eval = SumOverStagesOp::create(*builder, type, eval);

  ret.setOperand(*number, eval);
  step.setResultAttr(*number, attr::output, builder->getStringAttr(evalName));
  step.setResultAttr(*number, attr::sums, builder->getArrayAttr(names));
  if (isLanguageModel)
    step.setResultAttr(*number, attr::languageModel, builder->getUnitAttr());
  step.setType(
      builder->getFunctionType(step.getArgumentTypes(), ret.getOperandTypes()));
}
