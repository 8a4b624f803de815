//===- Spectrum.cpp - import of Fourier transforms ------------------------===//
//
// A discrete Fourier transform is a product with a constant matrix of cosines
// and sines; one of frames of a signal, a convolution with such a matrix.
// Complex numbers are the last dimension: real and imaginary part.
//
//===----------------------------------------------------------------------===//

#include "Ops/MatMul.h"
#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Of a matrix: 64 MiB of f32. With fewer a product is fast enough.
constexpr int64_t maxElements = int64_t(1) << 24;

/// What a transform makes of `points` numbers of `parts` 1 (real) or 2.
struct Transform {
  int64_t points, length, parts;
  bool isInverse = false, isOnesided = false;

  /// Whether it makes real numbers of one side of their frequencies.
  bool makesReal() const { return isInverse && isOnesided; }
  /// Frequencies of the result, or its points if that is real.
  int64_t frequencies() const {
    return isOnesided && !isInverse ? length / 2 + 1 : length;
  }
  int64_t resultParts() const { return makesReal() ? 1 : 2; }
  int64_t elements() const {
    return numElements({points, parts, frequencies(), resultParts()});
  }

  /// How part `to` of a frequency depends on part `from` of a point: by
  /// e^(-2 pi i * point * frequency / length), or its conjugate. Where the
  /// other side is the conjugate, both sides count at once.
  double weight(int64_t point, int64_t from, int64_t frequency,
                int64_t to) const {
    // In range, so that large products of both do not cost digits.
    double turn = double(point * frequency % length) / double(length);
    double angle = 2 * numbers::pi * (isInverse ? turn : -turn);
    double value = from == to  ? std::cos(angle)
                   : from == 0 ? std::sin(angle)
                               : -std::sin(angle);
    bool hasOtherSide = makesReal() && point > 0 && 2 * point != length;
    return isInverse ? value * (1 + hasOtherSide) / double(length) : value;
  }
};

Error checkComplex(ArrayRef<int64_t> shape) {
  if (shape.size() < 2 || shape.back() < 1 || shape.back() > 2)
    return problem("operand is " + toString(shape) +
                   ", expected a last dimension of 1 (real numbers) or 2 "
                   "(complex ones)");
  return Error::success();
}

Error checkSize(const Transform &transform) {
  if (transform.elements() > maxElements)
    return problem("a transform of " + Twine(transform.points) + " points to " +
                       Twine(transform.frequencies()) +
                       " frequencies is a product with a matrix that has more "
                       "than 2^24 elements",
                   "transform fewer points");
  return Error::success();
}

/// A scalar operand that must be known, or what it is if it is not there.
Expected<int64_t> readScalar(const Call &call, unsigned i, StringRef what,
                             int64_t absent) {
  if (!call.hasOperand(i))
    return absent;
  Expected<const HostTensor *> known = call.constant(i, what);
  if (!known)
    return known.takeError();
  if ((*known)->size() != 1)
    return problem(what + " has shape " + toString((*known)->shape()) +
                   ", expected a scalar");
  return (*known)->getInt(0);
}

Error importDft(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = checkComplex(call.shape(0)))
    return error;
  int64_t rank = call.rank(0);
  Expected<int64_t> given = call.opset < 20
                                ? Expected<int64_t>(call.getInt("axis", 1))
                                : readScalar(call, 2, "axis", -2);
  if (!given)
    return given.takeError();
  auto axis = normalizeAxis(*given, rank);
  if (!axis)
    return axis.takeError();
  if (call.opset < 20 && call.hasOperand(2))
    return problem("axis is an operand, which it is from opset 20 on, an "
                   "attribute before");
  if (call.opset >= 20 && call.getInt("axis", INT64_MIN) != INT64_MIN)
    return problem("axis is an attribute, which it is before opset 20, an "
                   "operand from then on");
  if (*axis == rank - 1)
    return problem("axis " + Twine(*given) +
                   " is that of real and imaginary parts, expected another");
  Shape shape(call.shape(0));
  bool isInverse = call.getInt("inverse", 0) != 0;
  bool isOnesided = call.getInt("onesided", 0) != 0;
  int64_t whole =
      isInverse && isOnesided ? 2 * (shape[*axis] - 1) : shape[*axis];
  Expected<int64_t> length = readScalar(call, 1, "dft_length", whole);
  if (!length)
    return length.takeError();
  if (*length < 1)
    return problem("dft_length is " + Twine(*length) + ", expected at least 1");
  int64_t most = isInverse && isOnesided ? *length / 2 + 1 : *length;
  Transform transform{std::min(shape[*axis], most), *length, shape.back(),
                      isInverse, isOnesided};
  if (isOnesided && (transform.parts == 2) != isInverse)
    return problem(
        "onesided of complex numbers, or of the inverse of real ones, "
        "is not supported",
        "transform both sides");
  if (Error error = checkSize(transform))
    return error;
  // [points and parts, frequencies and parts]; points beyond the length of the
  // transform are left out, and missing ones are zeros.
  int64_t rows = transform.points * transform.parts;
  int64_t resultParts = transform.resultParts();
  int64_t columns = transform.frequencies() * resultParts;
  HostTensor matrix(call.operands[0].dtype, {rows, columns});
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      matrix.setFloat(
          row * columns + column,
          transform.weight(row / transform.parts, row % transform.parts,
                           column / resultParts, column % resultParts));
  Value x = node.slice(node.operand(0), *axis, 0, transform.points);
  x = node.swapDims(x, *axis, rank - 2);
  Shape outer(node.shapeOf(x).drop_back(2));
  x = node.reshape(x, {numElements(outer), rows});
  Value y = buildProduct(node, x, false, node.constant(matrix), false);
  Shape result = outer;
  result.append({transform.frequencies(), resultParts});
  node.setResult(0, node.swapDims(node.reshape(y, result), *axis, rank - 2));
  return Error::success();
}

/// The taps of frames, multiplied by the window, for each frequency: filters
/// [frequencies and parts, 1, points, parts].
HostTensor makeFilters(const Transform &transform, const HostTensor *window,
                       DType dtype) {
  int64_t rows = transform.frequencies() * 2;
  int64_t columns = transform.points * transform.parts;
  HostTensor filters(dtype, {rows, 1, transform.points, transform.parts});
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t point = column / transform.parts;
      filters.setFloat(row * columns + column,
                       (window ? window->getFloat(point) : 1) *
                           transform.weight(point, column % transform.parts,
                                            row / 2, row % 2));
    }
  return filters;
}

Error importStft(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  Shape shape(call.shape(0));
  if (shape.size() == 2)
    shape.push_back(1);
  if (Error error = checkComplex(shape))
    return error;
  if (shape.size() != 3)
    return problem("signal is " + toString(call.shape(0)) +
                   ", expected [batch, points] or [batch, points, 1 or 2]");
  Expected<int64_t> step = readScalar(call, 1, "frame_step", 0);
  if (!step)
    return step.takeError();
  const HostTensor *window = nullptr;
  if (call.hasOperand(2)) {
    Expected<const HostTensor *> known = call.constant(2, "window");
    if (!known)
      return known.takeError();
    window = *known;
  }
  if (!window && !call.hasOperand(3))
    return problem("expected a window or frame_length");
  Expected<int64_t> length =
      readScalar(call, 3, "frame_length", window ? window->size() : 0);
  if (!length)
    return length.takeError();
  if (*step < 1 || *length < 1 || *length > shape[1])
    return problem("frames of " + Twine(*length) + " points, " + Twine(*step) +
                   " apart, do not fit a signal of " + Twine(shape[1]));
  if (window && window->shape() != ArrayRef<int64_t>{*length})
    return problem("window has shape " + toString(window->shape()) +
                   ", expected [" + Twine(*length) + "]");
  Transform transform{*length, *length, shape[2]};
  transform.isOnesided = call.getInt("onesided", 1) != 0;
  if (transform.isOnesided && transform.parts == 2)
    return problem("onesided of complex numbers is not supported",
                   "transform both sides");
  if (Error error = checkSize(transform))
    return error;
  Value filters =
      node.constant(makeFilters(transform, window, call.operands[0].dtype));
  int64_t frames = (shape[1] - *length) / *step + 1;
  Value signal =
      node.reshape(node.operand(0), {shape[0], 1, shape[1], shape[2]});
  auto type = node.typeOf({shape[0], 1, frames, transform.frequencies() * 2},
                          node.elementType(signal));
  Value y = node.create<Conv2DOp>(
      type, signal, filters, ArrayRef<int64_t>{1, *step},
      ArrayRef<int64_t>{0, 0, 0, 0}, ArrayRef<int64_t>{1, 1});
  node.setResult(
      0, node.reshape(y, {shape[0], frames, transform.frequencies(), 2}));
  return Error::success();
}
} // namespace

void addSpectrumOperators(OperatorTable &table) {
  table.add({
      {"DFT", 17, 1, 3, "axis inverse onesided", importDft, afterFirst},
      {"STFT", 17, 2, 4, "onesided", importStft, afterFirst},
  });
}

} // namespace dtc::frontend
