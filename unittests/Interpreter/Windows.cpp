//===- Windows.cpp - rules of convolutions, poolings and batch norm -------===//

#include "Rules.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// Calls back for each tap inside the image with the indices [n, y, x] of the
/// pixel, [n, p, q] of the position, and [i, j] of the tap.
static void
forEachTap(const Window &w,
           function_ref<void(ArrayRef<int64_t> pixel,
                             ArrayRef<int64_t> position, ArrayRef<int64_t> tap)>
               body) {
  forEachIndex({w.batch, w.rows, w.columns, w.kernelHeight, w.kernelWidth},
               [&](ArrayRef<int64_t> i) {
                 int64_t y =
                     i[1] * w.strideHeight - w.top + i[3] * w.dilationHeight;
                 int64_t x =
                     i[2] * w.strideWidth - w.left + i[4] * w.dilationWidth;
                 if (y >= 0 && y < w.height && x >= 0 && x < w.width)
                   body({i[0], y, x}, i.take_front(3), i.take_back(2));
               });
}

static Index join(ArrayRef<int64_t> index, int64_t last) {
  Index joined(index);
  joined.push_back(last);
  return joined;
}

/// Calls back for each product of a convolution, with one element each of
/// images, filters and positions.
template <typename OpTy, typename X, typename W, typename Y>
static void forEachProduct(
    OpTy op, X &images, W &filters, Y &positions,
    function_ref<void(decltype(images.data[0]) x, decltype(filters.data[0]) w,
                      decltype(positions.data[0]) y)>
        body) {
  int64_t count = filters.shape[0], own = filters.shape[3];
  int64_t perGroup = count / (images.shape[3] / own);
  forEachTap(op.getWindow(),
             [&](ArrayRef<int64_t> pixel, ArrayRef<int64_t> position,
                 ArrayRef<int64_t> tap) {
               for (int64_t f = 0; f < count; ++f)
                 for (int64_t c = 0; c < own; ++c)
                   body(at(images, join(pixel, f / perGroup * own + c)),
                        at(filters, {f, tap[0], tap[1], c}),
                        at(positions, join(position, f)));
             });
}

static Tensors evaluateConv2D(Conv2DOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachProduct(op, x[0], x[1], y,
                 [](double x, double w, double &y) { y += x * w; });
  return {y};
}

static Tensors evaluateConv2DInputGrad(Conv2DInputGradOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachProduct(op, y, x[1], x[0],
                 [](double &x, double w, double y) { x += y * w; });
  return {y};
}

static Tensors evaluateConv2DFilterGrad(Conv2DFilterGradOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachProduct(op, x[0], y, x[1],
                 [](double x, double &w, double y) { w += x * y; });
  return {y};
}

/// The same for each channel of an image and of the positions.
template <typename OpTy>
static void forEachPooled(
    OpTy op, int64_t channels,
    function_ref<void(const Index &pixel, const Index &position)> body) {
  forEachTap(op.getWindow(),
             [&](ArrayRef<int64_t> pixel, ArrayRef<int64_t> position,
                 ArrayRef<int64_t>) {
               for (int64_t c = 0; c < channels; ++c)
                 body(join(pixel, c), join(position, c));
             });
}

static Tensors evaluateSumPool2D(SumPool2DOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachPooled(op, y.shape[3], [&](const Index &pixel, const Index &position) {
    at(y, position) += at(x[0], pixel);
  });
  return {y};
}

static Tensors evaluateSumPool2DGrad(SumPool2DGradOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachPooled(op, y.shape[3], [&](const Index &pixel, const Index &position) {
    at(y, pixel) += at(x[0], position);
  });
  return {y};
}

static Tensors evaluateMaxPool2D(MaxPool2DOp op, Operands x) {
  HostTensor y = makeResult(op);
  llvm::fill(y.data, -INFINITY);
  forEachPooled(op, y.shape[3], [&](const Index &pixel, const Index &position) {
    double &max = at(y, position);
    max = std::max(max, at(x[0], pixel));
  });
  return {y};
}

static Tensors evaluateMaxPool2DGrad(MaxPool2DGradOp op, Operands x) {
  HostTensor y = makeResult(op);
  const HostTensor &images = x[0], &dy = x[1];
  // The first tap of the largest, for each position.
  std::vector<Index> best(dy.size());
  auto bestOf = [&](ArrayRef<int64_t> p) -> Index & {
    return best[((p[0] * dy.shape[1] + p[1]) * dy.shape[2] + p[2]) *
                    dy.shape[3] +
                p[3]];
  };
  forEachPooled(op, y.shape[3], [&](const Index &pixel, const Index &position) {
    Index &found = bestOf(position);
    if (found.empty() || at(images, pixel) > at(images, found))
      found = pixel;
  });
  forEachIndex(dy.shape, [&](ArrayRef<int64_t> position) {
    at(y, bestOf(position)) += at(dy, position);
  });
  return {y};
}

/// Uses moving averages, as in an evaluation.
static Tensors evaluateBatchNorm(BatchNormOp op, Operands x) {
  HostTensor y = makeResult(op);
  double epsilon = op.getEpsilon().convertToDouble();
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    ArrayRef<int64_t> c = index.take_back();
    at(y, index) = (at(x[0], index) - at(x[3], c)) /
                       std::sqrt(at(x[4], c) + epsilon) * at(x[1], c) +
                   at(x[2], c);
  });
  return {y};
}

void dtc::addWindowRules(Rules &rules) {
  rules.add(evaluateConv2D);
  rules.add(evaluateConv2DInputGrad);
  rules.add(evaluateConv2DFilterGrad);
  rules.add(evaluateSumPool2D);
  rules.add(evaluateSumPool2DGrad);
  rules.add(evaluateMaxPool2D);
  rules.add(evaluateMaxPool2DGrad);
  rules.add(evaluateBatchNorm);
}
