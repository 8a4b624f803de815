//===- Loss.cpp - import of losses ----------------------------------------===//
//
// Losses that a model computes itself, of labels that are its inputs. Sums are
// taken in double precision, as those of the losses that dtc adds.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
enum class Scores { Logits, LogProbabilities };

class LossBuilder {
public:
  LossBuilder(NodeBuilder &node, Scores kind) : node(node), kind(kind) {}
  Error run();

private:
  Error check();
  Value total(Value x);
  Value sumOfPlain();
  Value countLabels();
  Value weigh();

  NodeBuilder &node;
  const Call &call = node.call;
  Scores kind;
  std::optional<int64_t> ignored;
  /// Classes are the last dimension of scores.
  Value scores, labels;
};
} // namespace

Error LossBuilder::check() {
  if (Error error = node.requireFloat(0))
    return error;
  if (isFloat(call.operands[1].dtype) || call.operands[1].dtype == DType::Bool)
    return problem("labels have element type " +
                       toString(call.operands[1].dtype) +
                       ", expected integers",
                   "losses of class probabilities are not supported");
  Shape expected(call.shape(0));
  if (expected.size() < 2)
    return problem("scores are " + toString(call.shape(0)) +
                   ", expected [batch, classes, ...]");
  expected.erase(expected.begin() + 1);
  if (ArrayRef(expected) != call.shape(1))
    return problem("labels are " + toString(call.shape(1)) + ", expected " +
                   toString(expected));
  if (call.hasOperand(2) && call.shape(2) != call.shape(0).slice(1, 1))
    return problem("weights are " + toString(call.shape(2)) +
                   ", expected one for each of " + Twine(call.shape(0)[1]) +
                   " classes");
  StringRef reduction = call.getString("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return problem("reduction is '" + reduction +
                   "', expected mean, sum or none");
  return Error::success();
}

/// The sum of all elements as a double.
Value LossBuilder::total(Value x) {
  Shape axes;
  for (size_t d = 0; d < node.shapeOf(x).size(); ++d)
    axes.push_back(d);
  return node.reshape(node.reduce<ReduceSumOp>(node.cast(x, DType::F64), axes),
                      {});
}

Value LossBuilder::sumOfPlain() {
  auto scalar = node.typeOf({}, node.toType(DType::F64));
  return node.create<CrossEntropyOp>(
      scalar, scores, labels,
      ignored ? node.intAttribute(*ignored) : mlir::IntegerAttr(),
      /*classes=*/mlir::IntegerAttr());
}

Value LossBuilder::countLabels() {
  auto scalar = node.typeOf({}, node.toType(DType::F64));
  if (ignored)
    return node.create<CountLabelsOp>(scalar, labels, *ignored);
  return node.constant(
      HostTensor::scalar(DType::F64, numElements(node.shapeOf(labels))));
}

/// What each label counts for: the weight of its class, 1, or 0 if ignored.
Value LossBuilder::weigh() {
  Value zero = node.scalar(0, scores), weights = node.scalar(1, scores);
  if (call.hasOperand(2)) {
    Shape shape(node.shapeOf(scores));
    Value isLabel = node.create<OneHotOp>(
        node.typeOf(shape, node.toType(DType::Bool)), labels, Value());
    Value own = node.elementwise<SelectOp>({isLabel, node.operand(2), zero}, 1);
    weights = node.reshape(
        node.reduce<ReduceSumOp>(own, {int64_t(shape.size()) - 1}),
        node.shapeOf(labels));
  }
  if (ignored) {
    Value isCounted = node.compare(Comparison::ne, labels,
                                   node.scalar(*ignored, labels));
    weights = node.elementwise<SelectOp>({isCounted, weights, zero}, 1);
  }
  return node.broadcast(weights, node.shapeOf(labels));
}

Error LossBuilder::run() {
  if (Error error = check())
    return error;
  if (call.attribute("ignore_index"))
    ignored = call.getInt("ignore_index", 0);
  scores = node.channelsLast(node.operand(0));
  labels = node.operand(1);
  bool isLogits = kind == Scores::Logits;
  if (isLogits && node.hasResult(1))
    node.setResult(
        1, node.channelsFirst(node.elementwise<LogSoftmaxOp>(scores)));

  StringRef reduction = call.getString("reduction", "mean");
  bool isMean = reduction == "mean", isPlain = !call.hasOperand(2);
  Value sum, count;
  if (isLogits && isPlain && reduction != "none") {
    sum = sumOfPlain();
  } else {
    Value logs = isLogits ? node.elementwise<LogSoftmaxOp>(scores) : scores;
    Value zero = node.scalar(0, logs);
    Value isLabel = node.create<OneHotOp>(
        node.typeOf(node.shapeOf(logs), node.toType(DType::Bool)), labels,
        Value());
    Value own = node.reduce<ReduceSumOp>(
        node.elementwise<SelectOp>({isLabel, logs, zero}, 1),
        {int64_t(node.shapeOf(logs).size()) - 1});
    Value weights = weigh();
    Value losses = node.mul(
        node.elementwise<NegOp>(node.reshape(own, node.shapeOf(labels))),
        weights);
    if (reduction == "none") {
      node.setResult(0, losses);
      return Error::success();
    }
    sum = total(losses);
    if (!isPlain)
      count = total(weights);
  }
  if (isMean)
    sum = node.elementwise<DivOp>({sum, count ? count : countLabels()});
  node.setResult(0, node.cast(sum, call.operands[0].dtype));
  return Error::success();
}

template <Scores kind> static Error importLoss(NodeBuilder &node) {
  return LossBuilder(node, kind).run();
}

void addLossOperators(OperatorTable &table) {
  StringRef attributes = "ignore_index reduction";
  table.add({
      {"SoftmaxCrossEntropyLoss", 12, 2, 3, attributes,
       importLoss<Scores::Logits>, afterFirst},
      {"NegativeLogLikelihoodLoss", 12, 2, 3, attributes,
       importLoss<Scores::LogProbabilities>, afterFirst},
  });
}

} // namespace dtc::frontend
