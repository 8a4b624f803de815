//===- Convolution.cpp - import of convolutions ---------------------------===//
//
// Conv, ConvTranspose, and operators that are built from them. Images with a
// depth are split (Volume.h).
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Ops/Volume.h"
#include "Shapes/ShapeRules.h"
#include "Shapes/WindowRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Whether there is a bias. Zeros do not count: PyTorch's exporter adds zeros
/// where a convolution has no bias, for volumes even of shape [filters, 2].
bool hasBias(const NodeBuilder &node) {
  if (!node.call.hasOperand(2))
    return false;
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

/// Errors if the shapes of x, weight and bias do not match. The weight is
/// [filters, channels per group, ...], for ConvTranspose [channels, filters per
/// group, ...].
Error checkOperands(NodeBuilder &node, bool isTransposed) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  if (call.rank(1) != call.rank(0) || call.rank(0) < 3)
    return problem("weight " + toString(call.shape(1)) +
                   " does not have the rank of the operand " +
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

/// Builds `Op` on images and filters that have a height and a width.
template <typename Op>
Value convolve(NodeBuilder &node, Value images, Value filters, int64_t height,
               int64_t width, int64_t channels, const WindowDims &window) {
  auto type = node.typeOf({node.shapeOf(images)[0], height, width, channels},
                          node.elementType(images));
  return node.create<Op>(type, images, filters, window.strides(),
                         window.padding(), window.dilations());
}

/// Selects the filters of one tap along depth.
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

/// Builds the gradient of the convolution whose operand is this node's result.
/// The weight holds filters over the result, one for each channel of the
/// operand.
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

/// Sums windows [batch, channels * elements, positions] into an image. This is
/// a transposed convolution: filter (c, i, j) is 1 at (i, j) of channel c.
Error importCol2Im(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  auto window = col2ImWindow(call);
  if (!window)
    return window.takeError();
  const WindowDim &height = window->height(), &width = window->width();
  int64_t elements = height.kernel * width.kernel;
  int64_t positions = height.positions * width.positions;
  ArrayRef<int64_t> shape = call.shape(0);
  if (shape.size() != 3 || shape[1] == 0 || shape[1] % elements ||
      shape[2] != positions)
    return problem("operand " + toString(shape) + " does not fit " +
                   Twine(positions) + " positions of a window of " +
                   Twine(elements) + " elements");
  Shape filterShape{shape[1], height.kernel, width.kernel, 1};
  if (Error error = requireFoldable(filterShape))
    return error;
  HostTensor filters(call.operands[0].dtype, filterShape);
  for (int64_t filter = 0; filter < shape[1]; ++filter)
    filters.setFloat(filter * elements + filter % elements, 1);
  Value windows =
      node.reshape(node.swapDims(node.operand(0), 1, 2),
                   {shape[0], height.positions, width.positions, shape[1]});
  Value images = convolve<Conv2DInputGradOp>(
      node, windows, node.constant(filters), height.size, width.size,
      shape[1] / elements, *window);
  Shape result{shape[0], shape[1] / elements};
  if (numElements(call.shape(1)) == 2)
    result.push_back(height.size);
  result.push_back(width.size);
  node.setResult(0, node.reshape(node.channelsFirst(images), result));
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
      {"Col2Im", 18, 3, 3, "dilations pads strides", importCol2Im, afterFirst},
  });
}

} // namespace dtc::frontend
