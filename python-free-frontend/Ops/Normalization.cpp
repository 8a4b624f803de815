//===- Normalization.cpp - import of softmax, layer and batch norm --------===//
//
// dtc normalizes the last dimension, or has channels as the last dimension.
// Operands are transposed to that form.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
template <typename Op> Error importSoftmax(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  // Before opset 13, all dimensions from the axis on were joined.
  bool flattens = node.call.opset < 13;
  int64_t rank = node.call.rank(0);
  auto axis = normalizeAxis(node.call.getInt("axis", flattens ? 1 : -1), rank);
  if (!axis)
    return axis.takeError();
  Value x = node.operand(0);
  Value result;
  if (*axis == rank - 1) {
    result = node.elementwise<Op>(x);
  } else if (flattens) {
    Shape shape(node.call.shape(0).take_front(*axis));
    shape.push_back(numElements(node.call.shape(0).drop_front(*axis)));
    result = node.elementwise<Op>(node.reshape(x, shape));
    result = node.reshape(result, node.call.shape(0));
  } else {
    result = node.elementwise<Op>(node.swapDims(x, *axis, rank - 1));
    result = node.swapDims(result, *axis, rank - 1);
  }
  node.setResult(0, result);
  return Error::success();
}

Error importLayerNorm(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  auto axis = normalizeAxis(call.getInt("axis", -1), call.rank(0));
  if (!axis)
    return axis.takeError();
  ArrayRef<int64_t> shape = call.shape(0);
  int64_t width = numElements(shape.drop_front(*axis));
  for (int i = 1; i <= 2; ++i)
    if (call.hasOperand(i) && numElements(call.shape(i)) != width)
      return problem(
          (i == 1 ? "scale " : "bias ") + toString(call.shape(i)) +
              " does not have the shape of the normalized dimensions " +
              toString(shape.drop_front(*axis)),
          "broadcast it in the model");
  Value x = node.operand(0);
  Shape rows(shape.take_front(*axis));
  rows.push_back(width);
  Value scale = node.reshape(node.operand(1), {width});
  Value bias = call.hasOperand(2) ? node.reshape(node.operand(2), {width})
                                  : node.broadcast(node.scalar(0, x), {width});
  Shape statistics = rows;
  statistics.back() = 1;
  mlir::Type element = node.elementType(x);
  auto statisticsType = node.typeOf(statistics, element);
  mlir::Type types[] = {node.typeOf(rows, element), statisticsType,
                        statisticsType};
  auto norm =
      node.create<LayerNormOp>(types, node.reshape(x, rows), scale, bias,
                               llvm::APFloat(call.getFloat("epsilon", 1e-5f)));
  node.setResult(0, node.reshape(norm.getY(), shape));
  Shape kept(shape);
  std::fill(kept.begin() + *axis, kept.end(), 1);
  if (node.hasResult(1))
    node.setResult(1, node.reshape(norm.getMean(), kept));
  if (node.hasResult(2))
    node.setResult(2, node.reshape(norm.getRstd(), kept));
  return Error::success();
}

/// Whether a value is a parameter or an input, perhaps cast or reshaped.
bool isStored(Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!isa<CastOp, ReshapeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

/// Builds a batch norm without running averages. Either the model computes the
/// statistics, for example those of weights that it standardizes, or it trains
/// with the statistics of x.
void buildComputedBatchNorm(NodeBuilder &node, double epsilon) {
  const Call &call = node.call;
  Shape channels(call.rank(0), 1), others;
  channels[1] = call.shape(0)[1];
  for (int64_t d = 0; d < call.rank(0); ++d)
    if (d != 1)
      others.push_back(d);
  auto ofChannels = [&](unsigned i) {
    return node.reshape(node.operand(i), channels);
  };
  Value x = node.operand(0);
  bool isTraining = call.getInt("training_mode", 0);
  Value mean = isTraining ? node.mean(x, others) : ofChannels(3);
  Value centered = node.sub(x, mean);
  Value variance = isTraining ? node.mean(node.mul(centered, centered), others)
                              : ofChannels(4);
  Value deviation =
      node.elementwise<SqrtOp>(node.add(variance, node.scalar(epsilon, x)));
  Value y = node.elementwise<DivOp>({centered, deviation});
  node.setResult(0, node.add(node.mul(y, ofChannels(1)), ofChannels(2)));
}

/// The outputs of training mode are not supported: dtc updates the running
/// statistics itself, and the plan chooses the statistics.
Error importBatchNorm(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  if (call.rank(0) < 2)
    return problem("operand " + toString(call.shape(0)) +
                   " has no channels, expected [batch, channels, ...]");
  StringRef names[] = {"scale", "bias", "running mean", "running variance"};
  for (auto [i, name] : enumerate(names)) {
    if (call.shape(i + 1) != call.shape(0).slice(1, 1))
      return problem(name + " has shape " + toString(call.shape(i + 1)) +
                     ", expected that of the channels of " +
                     toString(call.shape(0)));
  }
  double epsilon = call.getFloat("epsilon", 1e-5f);
  double momentum = call.getFloat("momentum", 0.9f);
  if (!(epsilon >= 0) || !(momentum >= 0 && momentum <= 1))
    return problem("expected epsilon of at least 0, and momentum, the share of "
                   "the running statistic that each step keeps, from 0 to 1",
                   "correct them in the model");
  if (!isStored(node.operand(3)) && !isStored(node.operand(4))) {
    buildComputedBatchNorm(node, epsilon);
    return Error::success();
  }
  for (int i = 3; i <= 4; ++i)
    if (!call.operands[i].isParameter)
      return problem(
          names[i - 1] +
              " is not a parameter, so it cannot keep a running average",
          "export it as an initializer (PyTorch: "
          "track_running_stats=True)");
  // A sequence is an image of height 1, as for convolutions. A volume is an
  // image whose height joins all of its images.
  Shape shape(call.shape(0));
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  while (shape.size() > 4) {
    shape[3] *= shape[2];
    shape.erase(shape.begin() + 2);
  }
  Value y = node.create<BatchNormOp>(
      node.channelsLast(node.reshape(node.operand(0), shape)), node.operand(1),
      node.operand(2), node.operand(3), node.operand(4), llvm::APFloat(epsilon),
      llvm::APFloat(momentum));
  node.setResult(0, node.reshape(node.channelsFirst(y), call.shape(0)));
  return Error::success();
}
} // namespace

void addNormalizationOperators(OperatorTable &table) {
  table.add({
      {"Softmax", 1, 1, 1, "axis", importSoftmax<SoftmaxOp>},
      {"LogSoftmax", 1, 1, 1, "axis", importSoftmax<LogSoftmaxOp>},
      {"LayerNormalization", 17, 2, 3, "axis epsilon stash_type",
       importLayerNorm},
      {"BatchNormalization", 9, 5, 5, "epsilon momentum training_mode",
       importBatchNorm},
  });
}

} // namespace dtc::frontend
