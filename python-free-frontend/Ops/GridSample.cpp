//===- GridSample.cpp - import of GridSample and AffineGrid ---------------===//
//
// Coordinates of samples are data from -1 to 1 along each dimension of the
// image. As in PyTorch, a coordinate that is clamped to the image gets no
// gradient.
//
//===----------------------------------------------------------------------===//

#include "Ops/Elementwise.h"
#include "Ops/MatMul.h"
#include "Ops/Operators.h"
#include "Ops/Sampling.h"
#include "Shapes/ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
class Sampler {
public:
  explicit Sampler(NodeBuilder &node) : node(node), call(node.call) {}
  Error run();

private:
  Error readModes();
  Error checkShapes() const;
  Value clamp(Value x, double low, double high);
  Value reflect(Value x, int64_t size);
  Value moveInside(Value x, int64_t size);
  Taps findTaps(Value coordinate, int64_t size);
  Taps findCubicTaps(Value x, int64_t size);
  Value isOf(Comparison predicate, Value x, double bound) {
    return node.compare(predicate, x, node.scalar(bound, x));
  }
  Value times(Value x, double factor) {
    return node.mul(x, node.scalar(factor, x));
  }
  Value plus(Value x, double term) { return node.add(x, node.scalar(term, x)); }

  NodeBuilder &node;
  const Call &call;
  StringRef mode, padding;
  bool alignsCorners = false;
};
} // namespace

/// Reads the modes, whose names changed in opset 20.
Error Sampler::readModes() {
  mode = call.getString("mode", call.opset < 20 ? "bilinear" : "linear");
  if (mode.starts_with("bi"))
    mode = mode.drop_front(2);
  padding = call.getString("padding_mode", "zeros");
  alignsCorners = call.getInt("align_corners", 0) != 0;
  if (!is_contained({"linear", "nearest", "cubic"}, mode))
    return problem("mode '" + mode + "' is not supported",
                   "supported are linear, nearest and cubic");
  if (!is_contained({"zeros", "border", "reflection"}, padding))
    return problem("padding_mode '" + padding + "' is not supported",
                   "supported are zeros, border and reflection");
  return Error::success();
}

/// The image must be [batch, channels, ...], the grid [batch, ..., dimensions].
Error Sampler::checkShapes() const {
  ArrayRef<int64_t> image = call.shape(0), grid = call.shape(1);
  if (image.size() < 3 || image.size() > 5 || grid.size() != image.size() ||
      grid.back() != int64_t(image.size()) - 2 || grid[0] != image[0])
    return problem("grid " + toString(grid) + " does not fit the image " +
                   toString(image));
  if (numElements(image) == 0)
    return problem("samples an empty image " + toString(image));
  return Error::success();
}

/// Clamps x. No gradient passes at or beyond the bounds. NaN becomes `low`.
Value Sampler::clamp(Value x, double low, double high) {
  Value inner =
      node.select(isOf(Comparison::lt, x, high), x, node.scalar(high, x));
  return node.select(isOf(Comparison::gt, x, low), inner, node.scalar(low, x));
}

/// Mirrors coordinates at the centers of the outermost elements, or at their
/// edges.
Value Sampler::reflect(Value x, int64_t size) {
  double low = alignsCorners ? 0 : -0.5;
  double span = alignsCorners ? size - 1 : size;
  if (span == 0)
    return times(x, 0);
  x = node.elementwise<AbsOp>(plus(x, -low));
  Value periods = buildFloor(node, times(x, 1 / (2 * span)));
  // In a period of twice the span, the second half runs backwards.
  Value rest = node.sub(x, times(periods, 2 * span));
  Value back = node.sub(node.scalar(2 * span, x), rest);
  return plus(node.select(isOf(Comparison::le, rest, span), rest, back), low);
}

Value Sampler::moveInside(Value x, int64_t size) {
  if (padding == "reflection")
    x = reflect(x, size);
  return padding == "zeros" ? x : clamp(x, 0, size - 1);
}

/// The taps of Keys' cubic kernel, with a = -0.75 as in PyTorch. Each of the
/// four elements is moved into the image separately.
Taps Sampler::findCubicTaps(Value x, int64_t size) {
  constexpr double a = -0.75;
  Value base = buildFloor(node, x), t = node.sub(x, base);
  // Evaluates a polynomial at `s`. The highest power comes first.
  auto polynomial = [&](Value s, ArrayRef<double> coefficients) {
    Value sum = node.scalar(coefficients[0], s);
    for (double coefficient : coefficients.drop_front())
      sum = plus(node.mul(sum, s), coefficient);
    return sum;
  };
  Taps taps;
  for (int64_t offset = -1; offset <= 2; ++offset) {
    // Distance of the element from the place.
    Value s =
        offset <= 0 ? plus(t, -offset) : node.sub(node.scalar(offset, t), t);
    Value weight = offset == 0 || offset == 1
                       ? polynomial(s, {a + 2, -(a + 3), 0, 1})
                       : polynomial(s, {a, -5 * a, 8 * a, -4 * a});
    taps.push_back(
        makeTap(node, moveInside(plus(base, offset), size), weight, size));
  }
  return taps;
}

/// Finds the taps of a coordinate from -1 to 1.
Taps Sampler::findTaps(Value coordinate, int64_t size) {
  Value fromStart = plus(coordinate, 1);
  Value x = alignsCorners ? times(fromStart, (size - 1) / 2.0)
                          : plus(times(fromStart, size / 2.0), -0.5);
  if (mode == "cubic")
    return findCubicTaps(x, size);
  x = moveInside(x, size);
  if (mode == "nearest")
    return {makeTap(node, buildRound(node, x), node.scalar(1, x), size)};
  return makeLinearTaps(node, x, size);
}

Error Sampler::run() {
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  if (Error error = readModes())
    return error;
  if (Error error = checkShapes())
    return error;
  ArrayRef<int64_t> image = call.shape(0), grid = call.shape(1);
  int64_t dims = image.size() - 2;
  SmallVector<Taps> taps;
  for (int64_t d = 0; d < dims; ++d) {
    // The first coordinate is for the last dimension.
    Value coordinate = node.slice(node.operand(1), dims + 1, dims - 1 - d, 1);
    taps.push_back(
        findTaps(node.reshape(coordinate, grid.drop_back()), image[2 + d]));
  }
  Value samples = sample(node, node.channelsLast(node.operand(0)), taps);
  node.setResult(0, node.channelsFirst(samples));
  return Error::success();
}

static Error importGridSample(NodeBuilder &node) { return Sampler(node).run(); }

/// Computes the coordinates (from -1 to 1) of the elements of a result by a
/// product of theta [batch, dimensions, dimensions + 1] with a constant.
static Error importAffineGrid(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  auto given = call.constant(1, "size");
  if (!given)
    return given.takeError();
  std::vector<int64_t> values = (*given)->toInts();
  Shape size(values.begin(), values.end());
  int64_t dims = int64_t(size.size()) - 2;
  if (dims < 1 || dims > 3 ||
      call.shape(0) != ArrayRef<int64_t>{size[0], dims, dims + 1})
    return problem("theta " + toString(call.shape(0)) +
                   " does not fit a result of size " + toString(size));
  ArrayRef<int64_t> places = ArrayRef(size).drop_front(2);
  if (Error error = requireFoldable({numElements(places), dims + 1}))
    return error;
  bool alignsCorners = call.getInt("align_corners", 0) != 0;
  HostTensor base(call.operands[0].dtype, {numElements(places), dims + 1});
  for (int64_t i = 0, count = numElements(places); i < count; ++i) {
    int64_t rest = i;
    for (int64_t d = dims - 1; d >= 0; --d) {
      int64_t at = rest % places[d], n = places[d];
      rest /= places[d];
      double x = alignsCorners ? (n == 1 ? 0 : 2.0 * at / (n - 1) - 1)
                               : (2.0 * at + 1) / n - 1;
      base.setFloat(i * (dims + 1) + dims - 1 - d, x);
    }
    base.setFloat(i * (dims + 1) + dims, 1);
  }
  Value all = node.broadcast(node.constant(base),
                             {size[0], numElements(places), dims + 1});
  Value grid = buildProduct(node, all, false, node.operand(0), true);
  Shape shape{size[0]};
  append_range(shape, places);
  shape.push_back(dims);
  node.setResult(0, node.reshape(grid, shape));
  return Error::success();
}

void addGridSampleOperators(OperatorTable &table) {
  table.add({
      {"GridSample", 16, 2, 2, "align_corners mode padding_mode",
       importGridSample},
      {"AffineGrid", 20, 2, 2, "align_corners", importAffineGrid, second},
  });
}

} // namespace dtc::frontend
