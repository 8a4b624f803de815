//===- Pooling.cpp - import of pooling ------------------------------------===//
//
// Maximum, mean and norm of windows over images, and of windows over channels.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Ops/Volume.h"
#include "Shapes/WindowRules.h"

#include <limits>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Applies `Op` to windows of x. Windows with a depth combine the results of
/// their taps along depth with `join`. Outside of images x is `padding`.
template <typename Op>
Value pool(NodeBuilder &node, Value x, const WindowDims &window, double padding,
           function_ref<Value(Value, Value)> join) {
  auto ofImages = [&](Value images) -> Value {
    auto type = node.typeOf({node.shapeOf(images)[0], window.height().positions,
                             window.width().positions, node.call.shape(0)[1]},
                            node.elementType(images));
    return node.create<Op>(type, images, window.kernel(), window.strides(),
                           window.padding(), window.dilations());
  };
  x = toImage(node, x);
  if (!isVolume(node))
    return ofImages(x);
  Value joined;
  for (Value images : readTaps(node, x, window.depth(), padding))
    joined = joined ? join(joined, ofImages(images)) : ofImages(images);
  return joinDepth(node, joined, window.depth().positions);
}

Value sumWindows(NodeBuilder &node, Value x, const WindowDims &window) {
  return pool<SumPool2DOp>(node, x, window, /*padding=*/0,
                           [&](Value a, Value b) { return node.add(a, b); });
}

Error importMaxPool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  auto window = poolWindow(node.call);
  if (!window)
    return window.takeError();
  // Among equal elements the first one gets the gradient. NaN is the largest.
  auto join = [&](Value first, Value second) {
    Value larger =
        node.select(node.compare(Comparison::gt, second, first), second, first);
    return node.select(node.compare(Comparison::ne, second, second), second,
                       larger);
  };
  Value y = pool<MaxPool2DOp>(node, node.operand(0), *window,
                              -std::numeric_limits<double>::infinity(), join);
  node.setResult(0, fromImage(node, y));
  return Error::success();
}

/// Number of taps at each position that count: those inside of the image, or
/// inside of the requested padding.
SmallVector<int64_t> countTaps(const WindowDim &dim, bool includePadding) {
  int64_t from = includePadding ? -dim.before : 0;
  int64_t to = dim.size + (includePadding ? dim.after - dim.addedAfter : 0);
  SmallVector<int64_t> counts;
  for (int64_t position = 0; position < dim.positions; ++position)
    counts.push_back(dim.countTaps(position, from, to));
  return counts;
}

/// 1 / taps for each position. A scalar if all positions have the same number.
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
  Value mean = node.mul(sumWindows(node, node.operand(0), *window),
                        reciprocalOfTaps(node, *window));
  node.setResult(0, fromImage(node, mean));
  return Error::success();
}

/// |x| to the power of p.
Value raise(NodeBuilder &node, Value x, double p) {
  if (p == 2)
    return node.mul(x, x);
  Value size = node.elementwise<AbsOp>(x);
  return p == 1 ? size : node.elementwise<PowOp>({size, node.scalar(p, x)});
}

Value takeRoot(NodeBuilder &node, Value x, double p) {
  if (p == 2)
    return node.elementwise<SqrtOp>(x);
  return p == 1 ? x : node.elementwise<PowOp>({x, node.scalar(1 / p, x)});
}

Expected<double> readPower(const Call &call) {
  const auto *given = call.attribute("p");
  double p = given ? double(given->i()) : 2;
  if (p < 1)
    return problem("p is " + Twine(int64_t(p)) + ", expected at least 1");
  return p;
}

Error importLpPool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  Expected<double> p = readPower(node.call);
  if (!p)
    return p.takeError();
  auto window = poolWindow(node.call);
  if (!window)
    return window.takeError();
  Value sum = sumWindows(node, raise(node, node.operand(0), *p), *window);
  node.setResult(0, fromImage(node, takeRoot(node, sum, *p)));
  return Error::success();
}

Error importGlobalLpPool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  Expected<double> p = readPower(node.call);
  if (!p)
    return p.takeError();
  Shape axes;
  for (int64_t d = 2; d < node.call.rank(0); ++d)
    axes.push_back(d);
  Value sum = node.reduce<ReduceSumOp>(raise(node, node.operand(0), *p), axes);
  node.setResult(0, takeRoot(node, sum, *p));
  return Error::success();
}

/// x / (bias + alpha / size * sum of squares of `size` channels around) ^ beta,
/// as in AlexNet. Channels become the width of images of height 1.
Error importLRN(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  int64_t size = call.getInt("size", 0);
  ArrayRef<int64_t> shape = call.shape(0);
  if (size < 1 || shape.size() < 2 || numElements(shape) == 0)
    return problem("normalizes over " + Twine(size) + " channels of " +
                       toString(shape) + ", expected at least 1",
                   "the model is not valid ONNX; export it again");
  int64_t channels = shape[1], elements = numElements(shape.drop_front(2));
  // A window that is wider than all channels reads all channels.
  int64_t before = std::min((size - 1) / 2, channels);
  int64_t after = std::min(size / 2, channels);
  Value x = node.operand(0);
  Value squares =
      node.reshape(node.mul(x, x), {shape[0], 1, channels, elements});
  Value sums = node.create<SumPool2DOp>(
      squares.getType(), squares, ArrayRef<int64_t>{1, before + 1 + after},
      ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{0, before, 0, after},
      ArrayRef<int64_t>{1, 1});
  double alpha = call.getFloat("alpha", 0.0001) / double(size);
  Value base =
      node.add(node.mul(node.reshape(sums, shape), node.scalar(alpha, x)),
               node.scalar(call.getFloat("bias", 1), x));
  Value power = node.scalar(call.getFloat("beta", 0.75), x);
  node.setResult(
      0, node.elementwise<DivOp>({x, node.elementwise<PowOp>({base, power})}));
  return Error::success();
}
} // namespace

void addPoolingOperators(OperatorTable &table) {
  table.add({
      {"MaxPool", 8, 1, 1,
       "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
       importMaxPool},
      {"AveragePool", 7, 1, 1,
       "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
       "strides",
       importAveragePool},
      {"LpPool", 2, 1, 1,
       "auto_pad ceil_mode dilations kernel_shape p pads strides",
       importLpPool},
      {"GlobalLpPool", 2, 1, 1, "p", importGlobalLpPool},
      {"LRN", 1, 1, 1, "alpha beta bias size", importLRN},
  });
}

} // namespace dtc::frontend
