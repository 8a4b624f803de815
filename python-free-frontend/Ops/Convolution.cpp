//===- Convolution.cpp - import of convolutions and pooling ---------------===//
//
// dtc has the channels last: operands are transposed, and results transposed
// back. An image of one spatial dimension is one of height 1.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "WindowRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// [batch, channels, width] or [batch, channels, height, width], and filters of
/// the same form, as [batch, height, width, channels].
Value toImage(NodeBuilder &node, Value x) {
  Shape shape(node.shapeOf(x));
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  return node.channelsLast(node.reshape(x, shape));
}

/// The result of a node, from the form that toImage gives.
Value fromImage(NodeBuilder &node, Value y) {
  y = node.channelsFirst(y);
  Shape shape(node.shapeOf(y));
  if (node.call.rank(0) == 3)
    shape.erase(shape.begin() + 2);
  return node.reshape(y, shape);
}

mlir::RankedTensorType imageType(NodeBuilder &node, int64_t height,
                                 int64_t width, int64_t channels) {
  return node.typeOf({node.call.shape(0)[0], height, width, channels},
                     node.elementType(node.operand(0)));
}

/// Errors unless x, weight and bias agree. The weight is [filters, channels per
/// group, ...], or [channels, filters per group, ...] of ConvTranspose.
Error checkOperands(NodeBuilder &node, bool isTransposed) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  if (call.rank(1) != call.rank(0) || call.rank(0) < 3)
    return problem("weight " + toString(call.shape(1)) +
                   " has not the rank of the operand " +
                   toString(call.shape(0)));
  int64_t groups = call.getInt("group", 1);
  int64_t outer = call.shape(1)[0], inner = call.shape(1)[1];
  int64_t channels = call.shape(0)[1];
  bool fits =
      numElements(call.shape(1)) > 0 && groups > 0 && outer % groups == 0 &&
      (isTransposed ? outer == channels
                    : channels % groups == 0 && inner == channels / groups);
  if (!fits)
    return problem("weight " + toString(call.shape(1)) + " in " +
                   Twine(groups) + " groups does not fit the operand " +
                   toString(call.shape(0)));
  int64_t filters = isTransposed ? inner * groups : outer;
  if (call.hasOperand(2) && call.shape(2) != ArrayRef(filters))
    return problem("bias has shape " + toString(call.shape(2)) +
                   ", expected [" + Twine(filters) + "]");
  return Error::success();
}

/// The result is the op's of operand and weight, and of the bias.
template <typename Op>
void setConvolution(NodeBuilder &node, mlir::RankedTensorType type,
                    const WindowDims &window) {
  Value y = node.create<Op>(type, toImage(node, node.operand(0)),
                            toImage(node, node.operand(1)), window.strides(),
                            window.padding(), window.dilations());
  if (node.call.hasOperand(2))
    y = node.add(y, node.operand(2));
  node.setResult(0, fromImage(node, y));
}

Error importConv(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = checkOperands(node, /*isTransposed=*/false))
    return error;
  auto window = convWindow(call, call.shape(1).drop_front(2));
  if (!window)
    return window.takeError();
  auto type = imageType(node, window->at(0).positions, window->at(1).positions,
                        call.shape(1)[0]);
  setConvolution<Conv2DOp>(node, type, *window);
  return Error::success();
}

/// The gradient of the convolution that has its result as images: the weight
/// holds filters over the result, one for each channel of the operand.
Error importConvTranspose(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = checkOperands(node, /*isTransposed=*/true))
    return error;
  auto window = convTransposeWindow(call, call.shape(1).drop_front(2));
  if (!window)
    return window.takeError();
  auto type = imageType(node, window->at(0).size, window->at(1).size,
                        call.shape(1)[1] * call.getInt("group", 1));
  setConvolution<Conv2DInputGradOp>(node, type, *window);
  return Error::success();
}

template <typename Op> Value pool(NodeBuilder &node, const WindowDims &window) {
  auto type = imageType(node, window[0].positions, window[1].positions,
                        node.call.shape(0)[1]);
  return node.create<Op>(type, toImage(node, node.operand(0)), window.kernel(),
                         window.strides(), window.padding(),
                         window.dilations());
}

Error importMaxPool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  auto window = poolWindow(node.call);
  if (!window)
    return window.takeError();
  node.setResult(0, fromImage(node, pool<MaxPool2DOp>(node, *window)));
  return Error::success();
}

/// Taps that count at each position: those inside of the image, or of the
/// padding that the model asks for.
SmallVector<int64_t> countTaps(const WindowDim &dim, bool includePadding) {
  int64_t from = includePadding ? -dim.before : 0;
  int64_t to = dim.size + (includePadding ? dim.after - dim.addedAfter : 0);
  SmallVector<int64_t> counts;
  for (int64_t position = 0; position < dim.positions; ++position)
    counts.push_back(dim.countTaps(position, from, to));
  return counts;
}

/// 1 / taps, for each position unless all have as many.
Value reciprocalOfTaps(NodeBuilder &node, const WindowDims &window) {
  bool includePadding = node.call.getInt("count_include_pad", 0);
  SmallVector<int64_t> rows = countTaps(window[0], includePadding),
                       columns = countTaps(window[1], includePadding);
  if (all_equal(rows) && all_equal(columns))
    return node.scalar(1.0 / (rows[0] * columns[0]), node.operand(0));
  HostTensor result(node.call.operands[0].dtype,
                    {1, window[0].positions, window[1].positions, 1});
  for (int64_t i = 0; i < result.size(); ++i)
    result.setFloat(i, 1.0 / (rows[i / window[1].positions] *
                              columns[i % window[1].positions]));
  return node.constant(result);
}

Error importAveragePool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  auto window = poolWindow(node.call);
  if (!window)
    return window.takeError();
  Value sum = pool<SumPool2DOp>(node, *window);
  node.setResult(
      0, fromImage(node, node.mul(sum, reciprocalOfTaps(node, *window))));
  return Error::success();
}
} // namespace

void addConvolutionOperators(OperatorTable &table) {
  table.add({
      {"Conv", 1, 2, 3, "auto_pad dilations group kernel_shape pads strides",
       importConv},
      {"ConvTranspose", 1, 2, 3,
       "auto_pad dilations group kernel_shape output_padding output_shape pads "
       "strides",
       importConvTranspose},
      {"MaxPool", 8, 1, 1,
       "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
       importMaxPool},
      {"AveragePool", 7, 1, 1,
       "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
       "strides",
       importAveragePool},
  });
}

} // namespace dtc::frontend
