//===- AddLoss.cpp - append labels and the loss ---------------------------===//
//
// @forward becomes @step. Its results are the loss of the global batch and the
// predictions.
//
//===----------------------------------------------------------------------===//

#include "BoundInputs.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/ComposedLosses.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/CloseNames.h"
#include "dtc/Support/FormatShape.h"
#include <cmath>

namespace dtc {
#define GEN_PASS_DEF_ADDLOSS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct AddLossPass : dtc::impl::AddLossBase<AddLossPass> {
  using AddLossBase::AddLossBase;
  void runOnOperation() override;

private:
  LogicalResult readOptions();
  LogicalResult checkClassOptions();
  LogicalResult checkClassWeights(RankedTensorType logits);
  FailureOr<unsigned> findOutput();
  FailureOr<LossSum> build(Value output);
  FailureOr<LossSum> buildCrossEntropy(Value logits);
  /// Adds an input for labels with the type of the predictions.
  FailureOr<Value> addTargets(Value prediction);
  FailureOr<LossSum> buildSquaredError(Value prediction);
  FailureOr<LossSum> buildBce(Value logits);
  FailureOr<LossSum> buildOutput(Value output);

  FailureOr<Value> addLabels(RankedTensorType type);
  void warnOfProbabilities(StringRef activation);

  func::FuncOp step;
  std::string kind, outputName;
  std::optional<int64_t> ignored;
  std::optional<OpBuilder> builder;
  std::optional<Location> loc;
  /// The values that labels are compared with, classes last.
  Value predictions;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult AddLossPass::readOptions() {
  kind = loss;
  outputName = output;
  if (StringRef name = kind; name.consume_front("output:")) {
    outputName = name.str();
    kind = "output";
  }
  if (!llvm::is_contained({"cross-entropy", "bce", "mse", "output"}, kind))
    return step.emitError("unknown loss '")
           << kind
           << "', expected cross-entropy, bce, mse, output or output:NAME";
  std::string how = reduction;
  if (how != "mean" && how != "sum")
    return step.emitError("unknown reduction '")
           << how << "' of the loss, expected mean or sum";
  if (failed(checkClassOptions()))
    return failure();
  ignored.reset();
  std::string text = ignoreIndex;
  if (text.empty())
    return success();
  int64_t value;
  if (StringRef(text).getAsInteger(10, value))
    return step.emitError("ignored label is '")
           << text << "', expected an integer";
  if (kind != "cross-entropy")
    return step.emitError("ignored label ")
           << value << " has no meaning for loss '" << kind
           << "', expected loss cross-entropy";
  ignored = value;
  return success();
}

LogicalResult AddLossPass::checkClassOptions() {
  double smoothing = labelSmoothing;
  if (!(smoothing >= 0 && smoothing <= 1))
    return step.emitError("label smoothing is ")
           << smoothing << ", expected a number from 0 to 1";
  for (double weight : classWeights)
    if (!std::isfinite(weight) || weight < 0)
      return step.emitError("a class weight is ")
             << weight << ", expected numbers of at least 0";
  if (kind == "cross-entropy" || (smoothing == 0 && classWeights.empty()))
    return success();
  return step.emitError("label smoothing and class weights have no meaning for "
                        "loss '")
         << kind << "', expected loss cross-entropy";
}

LogicalResult AddLossPass::checkClassWeights(RankedTensorType logits) {
  int64_t classes = logits.getShape().back(), found = classWeights.size();
  if (found == 0 || found == classes)
    return success();
  return emitError(*loc, "there are ")
         << found << " class weights, expected " << classes
         << ", one for each class of logits of type " << logits;
}

/// Returns the number of the result for the loss. If the model computes its
/// loss and also returns others, such as logits, the loss is the scalar.
FailureOr<unsigned> AddLossPass::findOutput() {
  SmallVector<StringRef> names;
  SmallVector<unsigned> numbers;
  for (auto [i, type] : llvm::enumerate(step.getResultTypes()))
    if (isFloatTensor(type)) {
      StringAttr name = getResultString(step, i, attr::output);
      names.push_back(name ? name.getValue() : "");
      numbers.push_back(i);
    }
  if (numbers.empty())
    return step.emitError("the model has no floating-point output to take a "
                          "loss of");
  if (outputName.empty()) {
    if (numbers.size() == 1)
      return numbers.front();
    auto isScalar = [&](unsigned number) {
      auto type = cast<RankedTensorType>(step.getResultTypes()[number]);
      return type.getNumElements() == 1;
    };
    if (kind == "output" && llvm::count_if(numbers, isScalar) == 1)
      return *llvm::find_if(numbers, isScalar);
    return step.emitError("the model has ")
           << numbers.size() << " outputs, " << listNames(names)
           << ": choose the one for the loss with --loss-of";
  }
  auto found = llvm::find(names, outputName);
  if (found == names.end())
    return step.emitError("no floating-point output '")
           << outputName << "'; the closest names are "
           << listCloseNames(outputName, names);
  return numbers[found - names.begin()];
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Appends the labels to the inputs, with the batch size of the data.
FailureOr<Value> AddLossPass::addLabels(RankedTensorType type) {
  unsigned number = 0;
  for (BlockArgument argument : step.getArguments()) {
    StringAttr input = getArgString(argument, attr::input);
    if (input)
      number = argument.getArgNumber() + 1;
    auto data = cast<RankedTensorType>(argument.getType());
    if (input && data.getRank() > 0 &&
        (type.getRank() == 0 || data.getDimSize(0) != type.getDimSize(0)))
      return emitError(*loc, "labels would have shape ")
             << formatShape(type.getShape().vec()) << ", but '"
             << input.getValue() << "' has " << data.getDimSize(0)
             << " samples, its first dimension; export an output with the "
                "batch in front, or a model that computes its loss (--loss "
                "output)";
    if (input && input.getValue() == "labels")
      return step.emitError("the model has an input 'labels' already; if it "
                            "computes the loss itself, pass --loss output");
  }
  DictionaryAttr attributes = builder->getDictionaryAttr(
      {builder->getNamedAttr(attr::input, builder->getStringAttr("labels")),
       builder->getNamedAttr(attr::kind, builder->getStringAttr("label"))});
  if (failed(step.insertArgument(number, type, attributes, *loc)))
    return failure();
  return Value(step.getArgument(number));
}

static std::string describeRange(int64_t first, int64_t last) {
  return std::to_string(first) +
         (first == last ? "" : " to " + std::to_string(last));
}

/// Whether a value is the softmax over its last dimension.
static bool isSoftmax(Value value) {
  int64_t dim = cast<ShapedType>(value.getType()).getRank() - 1;
  while (Operation *op = value.getDefiningOp()) {
    if (isa<SoftmaxOp>(op)) // over its last dimension
      return dim == cast<ShapedType>(value.getType()).getRank() - 1;
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      dim = transpose.getPermutation()[dim];
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      ArrayRef<int64_t> from = reshape.getX().getType().getShape();
      if (from.empty() || dim != reshape.getType().getRank() - 1 ||
          from.back() != reshape.getType().getShape().back())
        return false;
      dim = from.size() - 1;
    } else if (!isa<CastOp>(op)) {
      return false;
    }
    value = op->getOperand(0);
  }
  return false;
}

/// Warns of a loss of logits if the model returns probabilities. PyTorch
/// computes it, but it is rarely intended.
void AddLossPass::warnOfProbabilities(StringRef activation) {
  emitWarning(*loc, "loss ")
      << kind << " takes logits, as in PyTorch, but the model's output is a "
      << activation << ": the loss applies another; if it is to be of these "
      << "probabilities, as in Keras, export the model without the "
      << activation;
}

FailureOr<LossSum> AddLossPass::buildCrossEntropy(Value logits) {
  auto type = cast<RankedTensorType>(logits.getType());
  int64_t rank = type.getRank(), given = classAxis;
  if (rank < 2)
    return emitError(*loc, "cross-entropy of an output of type ")
           << type << ", expected logits of rank 2 or more: a batch of classes";
  int64_t axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank)
    return emitError(*loc, "class axis ")
           << given << " of logits of type " << type << ", expected "
           << describeRange(1, rank - 1) << " or "
           << describeRange(1 - rank, -1);
  if (axis != rank - 1) {
    auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    permutation.erase(permutation.begin() + axis);
    permutation.push_back(axis);
    logits = TransposeOp::create(*builder, *loc, logits, permutation);
    type = cast<RankedTensorType>(logits.getType());
  }
  if (isSoftmax(logits))
    warnOfProbabilities("softmax");
  if (failed(checkClassWeights(type)))
    return failure();
  auto labelsType =
      RankedTensorType::get(type.getShape().drop_back(), builder->getI64Type());
  FailureOr<Value> labels = addLabels(labelsType);
  if (failed(labels))
    return failure();
  predictions = logits;
  ImplicitLocOpBuilder b(*loc, *builder);
  if (labelSmoothing != 0 || !classWeights.empty()) {
    // The ops do not show the range of labels, so record it.
    unsigned number = cast<BlockArgument>(*labels).getArgNumber();
    step.setArgAttr(number, attr::bound,
                    builder->getDenseI64ArrayAttr(type.getShape().back()));
    if (ignored)
      step.setArgAttr(number, attr::ignore,
                      builder->getI64IntegerAttr(*ignored));
    SmallVector<double> weights(classWeights.begin(), classWeights.end());
    return buildWeightedCrossEntropy(
        b, logits, *labels, {labelSmoothing, weights, ignored}, replicas);
  }
  return dtc::buildCrossEntropy(b, logits, *labels, ignored, replicas);
}

FailureOr<Value> AddLossPass::addTargets(Value prediction) {
  auto type = cast<RankedTensorType>(prediction.getType());
  if (type.getRank() == 0)
    return emitError(*loc, kind)
           << " of an output of type " << type
           << ", expected a batch; if the model computes the loss "
           << "itself, pass --loss output";
  return addLabels(type);
}

FailureOr<LossSum> AddLossPass::buildSquaredError(Value prediction) {
  FailureOr<Value> target = addTargets(prediction);
  if (failed(target))
    return failure();
  ImplicitLocOpBuilder b(*loc, *builder);
  return dtc::buildSquaredError(b, prediction, *target, replicas);
}

FailureOr<LossSum> AddLossPass::buildBce(Value logits) {
  if (logits.getDefiningOp<SigmoidOp>())
    warnOfProbabilities("sigmoid");
  FailureOr<Value> target = addTargets(logits);
  if (failed(target))
    return failure();
  ImplicitLocOpBuilder b(*loc, *builder);
  return buildBinaryCrossEntropy(b, logits, *target, replicas);
}

/// The loss is an output of the model: one number, or one for each of several
/// elements.
FailureOr<LossSum> AddLossPass::buildOutput(Value output) {
  auto type = cast<RankedTensorType>(output.getType());
  if (type.getNumElements() != 1) {
    std::string how = reduction;
    emitWarning(*loc, "the loss is the ")
        << how << " of an output of type " << type
        << ", not a scalar that the model computes; if these are predictions, "
           "pass --loss cross-entropy, bce or mse";
  }
  ImplicitLocOpBuilder b(*loc, *builder);
  return buildElementSum(b, output, replicas);
}

FailureOr<LossSum> AddLossPass::build(Value output) {
  if (kind == "cross-entropy")
    return buildCrossEntropy(output);
  if (kind == "bce")
    return buildBce(output);
  if (kind == "mse")
    return buildSquaredError(output);
  return buildOutput(output);
}

void AddLossPass::runOnOperation() {
  FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
  if (failed(forward))
    return signalPassFailure();
  step = *forward;
  if (failed(readOptions()))
    return signalPassFailure();
  FailureOr<unsigned> number = findOutput();
  if (failed(number))
    return signalPassFailure();
  Value output = getReturn(step).getOperand(*number);
  builder.emplace(getReturn(step));
  loc = output.getLoc();

  for (BlockArgument argument : step.getArguments())
    if (getArgString(argument, attr::input) &&
        !getArgString(argument, attr::kind))
      step.setArgAttr(argument.getArgNumber(), attr::kind,
                      builder->getStringAttr("input"));
  predictions = output;
  FailureOr<LossSum> sum = build(output);
  if (failed(sum))
    return signalPassFailure();
  Value value = sum->sum;
  if (reduction == "mean" && sum->count)
    value = DivOp::create(*builder, *loc, value, sum->count);
  // Only the last stage computes the loss, but all ranks report it.
  value = SumOverStagesOp::create(*builder, *loc, value.getType(), value);
  Results results;
  results.add(value, attr::output, "loss");
  results.add(predictions, attr::output, "predictions");
  if (kind != "output") // a loss has no predictions
    results.add(output, attr::output, recordedName);
  results.assignTo(step);
  step.setName(stepName);
  eraseDeadOps(step);
  boundInputs(step);
}
