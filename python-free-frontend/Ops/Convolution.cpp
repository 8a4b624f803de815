//===- Convolution.cpp - import of convolutions and pooling ---------------===//
//
// dtc has the channels last: operands are transposed, and results transposed
// back. An image of one spatial dimension is one of height 1; of one with
// depth, a window is taken apart (Volume.h).
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "Volume.h"
#include "WindowRules.h"

#include <limits>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
bool isVolume(const NodeBuilder &node) { return node.call.rank(0) == 5; }

/// [batch, channels, width], with height, or with depth and height before it,
/// and filters of the same form, as [batch, (depth,) height, width, channels].
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

/// Images of volumes, as a batch, and back.
Value splitDepth(NodeBuilder &node, Value volumes) {
  Shape shape(node.shapeOf(volumes));
  shape[1] *= shape[0];
  return node.reshape(volumes, ArrayRef(shape).drop_front());
}
Value joinDepth(NodeBuilder &node, Value images, int64_t depth) {
  Shape shape(node.shapeOf(images));
  shape.insert(shape.begin() + 1, depth);
  shape[0] /= depth;
  return node.reshape(images, shape);
}

/// Whether there is a bias. Zeros that are no vector are none: PyTorch's
/// exporter gives zeros [filters, 2] to a convolution of volumes that has no
/// bias.
bool hasBias(const NodeBuilder &node) {
  if (!node.call.hasOperand(2) || node.call.rank(2) == 1)
    return node.call.hasOperand(2);
  Value bias = node.operand(2);
  while (isa_and_present<CastOp, ReshapeOp, BroadcastOp>(bias.getDefiningOp()))
    bias = bias.getDefiningOp()->getOperand(0);
  auto constant = bias.getDefiningOp<ConstantOp>();
  auto elements = constant
                      ? dyn_cast<mlir::DenseFPElementsAttr>(constant.getValue())
                      : mlir::DenseFPElementsAttr();
  return !elements ||
         any_of(elements, [](const APFloat &x) { return !x.isZero(); });
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
  if (hasBias(node) && call.shape(2) != ArrayRef(filters))
    return problem("bias has shape " + toString(call.shape(2)) +
                   ", expected [" + Twine(filters) + "]");
  return Error::success();
}

/// `Op` of images and of filters of height and width.
template <typename Op>
Value convolve(NodeBuilder &node, Value images, Value filters, int64_t height,
               int64_t width, int64_t channels, const WindowDims &window) {
  auto type = node.typeOf({node.shapeOf(images)[0], height, width, channels},
                          node.elementType(images));
  return node.create<Op>(type, images, filters, window.strides(),
                         window.padding(), window.dilations());
}

/// The filters of a tap along depth.
Value filtersOfTap(NodeBuilder &node, Value filters, int64_t tap) {
  Shape shape(node.shapeOf(filters));
  shape.erase(shape.begin() + 1);
  return node.reshape(node.slice(filters, 1, tap, 1), shape);
}

void setConvolution(NodeBuilder &node, Value y) {
  if (hasBias(node))
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
  Value x = toImage(node, node.operand(0));
  Value filters = toImage(node, node.operand(1));
  auto ofImages = [&](Value images, Value filters) {
    return convolve<Conv2DOp>(node, images, filters, window->height().positions,
                              window->width().positions, call.shape(1)[0],
                              *window);
  };
  if (!isVolume(node)) {
    setConvolution(node, ofImages(x, filters));
    return Error::success();
  }
  Value sum;
  for (auto [tap, images] :
       enumerate(readTaps(node, x, window->depth(), /*padding=*/0))) {
    Value part = ofImages(images, filtersOfTap(node, filters, tap));
    sum = sum ? node.add(sum, part) : part;
  }
  setConvolution(node, joinDepth(node, sum, window->depth().positions));
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
  Value x = toImage(node, node.operand(0));
  Value filters = toImage(node, node.operand(1));
  auto ofImages = [&](Value images, Value filters) {
    return convolve<Conv2DInputGradOp>(
        node, images, filters, window->height().size, window->width().size,
        call.shape(1)[1] * call.getInt("group", 1), *window);
  };
  if (!isVolume(node)) {
    setConvolution(node, ofImages(x, filters));
    return Error::success();
  }
  Value images = splitDepth(node, x);
  SmallVector<Value> taps;
  for (int64_t tap = 0; tap < window->depth().kernel; ++tap)
    taps.push_back(ofImages(images, filtersOfTap(node, filters, tap)));
  setConvolution(node, sumTaps(node, taps, window->depth()));
  return Error::success();
}

/// What `Op` makes of windows; of those with depth `join` makes one value of
/// those of two taps. Outside of images there is `padding`.
template <typename Op>
Value pool(NodeBuilder &node, const WindowDims &window, double padding,
           function_ref<Value(Value, Value)> join) {
  auto ofImages = [&](Value images) -> Value {
    auto type = node.typeOf({node.shapeOf(images)[0], window.height().positions,
                             window.width().positions, node.call.shape(0)[1]},
                            node.elementType(images));
    return node.create<Op>(type, images, window.kernel(), window.strides(),
                           window.padding(), window.dilations());
  };
  Value x = toImage(node, node.operand(0));
  if (!isVolume(node))
    return ofImages(x);
  Value joined;
  for (Value images : readTaps(node, x, window.depth(), padding))
    joined = joined ? join(joined, ofImages(images)) : ofImages(images);
  return joinDepth(node, joined, window.depth().positions);
}

Error importMaxPool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  auto window = poolWindow(node.call);
  if (!window)
    return window.takeError();
  // Of equal elements the first gets the gradient; NaN is the largest.
  auto join = [&](Value first, Value second) {
    Value larger =
        node.select(node.compare(Comparison::gt, second, first), second, first);
    return node.select(node.compare(Comparison::ne, second, second), second,
                       larger);
  };
  Value y = pool<MaxPool2DOp>(node, *window,
                              -std::numeric_limits<double>::infinity(), join);
  node.setResult(0, fromImage(node, y));
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
  SmallVector<int64_t> planes = countTaps(window.depth(), includePadding),
                       rows = countTaps(window.height(), includePadding),
                       columns = countTaps(window.width(), includePadding);
  if (all_equal(planes) && all_equal(rows) && all_equal(columns))
    return node.scalar(1.0 / (planes[0] * rows[0] * columns[0]),
                       node.operand(0));
  int64_t height = window.height().positions, width = window.width().positions;
  Shape shape = {1, height, width, 1};
  if (isVolume(node))
    shape.insert(shape.begin() + 1, window.depth().positions);
  HostTensor result(node.call.operands[0].dtype, shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setFloat(i, 1.0 / (planes[i / width / height] *
                              rows[i / width % height] * columns[i % width]));
  return node.constant(result);
}

Error importAveragePool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  auto window = poolWindow(node.call);
  if (!window)
    return window.takeError();
  Value sum =
      pool<SumPool2DOp>(node, *window, /*padding=*/0,
                        [&](Value a, Value b) { return node.add(a, b); });
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
