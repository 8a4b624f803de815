//===- Loss.cpp - import of losses ----------------------------------------===//
//
// Losses that the model computes from labels among its inputs. Sums run in
// double precision, like those of the losses that dtc adds.
//
//===----------------------------------------------------------------------===//

#include "File/Annotations.h"
#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

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
  Value findIsLabel();
  Value buildLosses();
  Value buildShareLosses();

  NodeBuilder &node;
  const Call &call = node.call;
  Scores kind;
  std::optional<int64_t> ignored;
  /// Share of a label that is spread over all classes (label smoothing).
  double smoothing = 0;
  /// Whether labels are probabilities of all classes. PyTorch's cross_entropy
  /// accepts them, and its exporters pass them on.
  bool hasShares = false;
  /// The last dimension of scores is the class.
  Value scores, labels;
};
} // namespace

Error LossBuilder::check() {
  if (Error error = node.requireFloat(0))
    return error;
  DType labelType = call.operands[1].dtype;
  hasShares = kind == Scores::Logits && isFloat(labelType);
  if (!hasShares && (isFloat(labelType) || labelType == DType::Bool))
    return problem("labels have element type " + toString(labelType) +
                       ", expected integers",
                   "export the loss in other operators");
  Shape expected(call.shape(0));
  if (expected.size() < 2)
    return problem("scores are " + toString(call.shape(0)) +
                   ", expected [batch, classes, ...]");
  if (!hasShares)
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

/// Sums all elements as a double.
Value LossBuilder::total(Value x) {
  Shape axes;
  for (size_t d = 0; d < node.shapeOf(x).size(); ++d)
    axes.push_back(d);
  return node.reshape(node.reduce<ReduceSumOp>(node.cast(x, DType::F64), axes),
                      {});
}

Value LossBuilder::sumOfPlain() {
  auto scalar = node.typeOf({}, node.toType(DType::F64));
  return node.create<CrossEntropyOp>(scalar, scores, labels,
                                     ignored ? node.intAttribute(*ignored)
                                             : mlir::IntegerAttr(),
                                     /*classes=*/mlir::IntegerAttr());
}

Value LossBuilder::findIsLabel() {
  return node.create<OneHotOp>(
      node.typeOf(node.shapeOf(scores), node.toType(DType::Bool)), labels,
      Value());
}

/// Builds a loss for each label. The label gets 1 - smoothing of the weight,
/// and all classes share the rest.
Value LossBuilder::buildLosses() {
  Value logs =
      kind == Scores::Logits ? node.elementwise<LogSoftmaxOp>(scores) : scores;
  Value weights = call.hasOperand(2) ? node.operand(2) : node.scalar(1, logs);
  Value zero = node.scalar(0, logs), isLabel = findIsLabel();
  Value terms;
  if (smoothing == 0) {
    terms = node.select(isLabel, node.mul(logs, weights), zero);
  } else {
    double share = smoothing / double(node.shapeOf(scores).back());
    Value own = node.mul(weights, node.scalar(1 - smoothing + share, logs));
    Value other = node.mul(weights, node.scalar(share, logs));
    terms = node.mul(logs, node.select(isLabel, own, other));
  }
  int64_t last = node.shapeOf(scores).size() - 1;
  Value losses = node.elementwise<NegOp>(node.reshape(
      node.reduce<ReduceSumOp>(terms, {last}), node.shapeOf(labels)));
  if (!ignored)
    return losses;
  Value isCounted =
      node.compare(Comparison::ne, labels, node.scalar(*ignored, labels));
  return node.select(isCounted, losses, zero);
}

/// Builds a loss for each sample and position.
Value LossBuilder::buildShareLosses() {
  Value logs = node.elementwise<LogSoftmaxOp>(scores);
  Value shares = node.channelsLast(labels);
  int64_t last = node.shapeOf(scores).size() - 1;
  if (smoothing != 0) {
    double even = smoothing / double(node.shapeOf(scores)[last]);
    shares = node.add(node.mul(shares, node.scalar(1 - smoothing, shares)),
                      node.scalar(even, shares));
  }
  if (call.hasOperand(2))
    shares = node.mul(shares, node.operand(2));
  Shape each(node.shapeOf(scores));
  each.pop_back();
  return node.elementwise<NegOp>(node.reshape(
      node.reduce<ReduceSumOp>(node.mul(logs, shares), {last}), each));
}

/// Returns the divisor of a mean: the number of labels, or the sum of their
/// weights.
Value LossBuilder::countLabels() {
  if (hasShares) { // even if classes have weights
    ArrayRef<int64_t> shape = node.shapeOf(scores);
    int64_t count = numElements(shape.drop_back());
    return node.constant(HostTensor::scalar(DType::F64, double(count)));
  }
  if (call.hasOperand(2)) {
    Value zero = node.scalar(0, scores);
    Value own = node.select(findIsLabel(), node.operand(2), zero);
    if (ignored) {
      Shape column(node.shapeOf(labels));
      column.push_back(1);
      Value isCounted =
          node.compare(Comparison::ne, node.reshape(labels, column),
                       node.scalar(*ignored, labels));
      own = node.select(isCounted, own, zero);
    }
    return total(own);
  }
  auto scalar = node.typeOf({}, node.toType(DType::F64));
  if (ignored)
    return node.create<CountLabelsOp>(scalar, labels, *ignored);
  return node.constant(
      HostTensor::scalar(DType::F64, numElements(node.shapeOf(labels))));
}

Error LossBuilder::run() {
  if (Error error = check())
    return error;
  if (call.attribute("ignore_index"))
    ignored = call.getInt("ignore_index", 0);
  StringRef text = call.getString(annotation::labelSmoothing, "");
  if (text.getAsDouble(smoothing))
    smoothing = 0;
  scores = node.channelsLast(node.operand(0));
  labels = node.operand(1);
  bool isLogits = kind == Scores::Logits;
  if (isLogits && node.hasResult(1))
    node.setResult(1,
                   node.channelsFirst(node.elementwise<LogSoftmaxOp>(scores)));

  StringRef reduction = call.getString("reduction", "mean");
  bool isPlain =
      isLogits && !call.hasOperand(2) && smoothing == 0 && !hasShares;
  auto build = [&] { return hasShares ? buildShareLosses() : buildLosses(); };
  if (reduction == "none") {
    node.setResult(0, build());
    return Error::success();
  }
  Value sum = isPlain ? sumOfPlain() : total(build());
  if (reduction == "mean")
    sum = node.elementwise<DivOp>({sum, countLabels()});
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
