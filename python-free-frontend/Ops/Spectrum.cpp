//===- Spectrum.cpp - import of Fourier transforms ------------------------===//
//
// A discrete Fourier transform is a product with a constant matrix of cosines
// and sines. One of frames of a signal is a convolution with such a matrix. The
// last dimension of complex numbers is [real, imaginary].
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
/// Largest matrix: 64 MiB of f32. Smaller products are fast enough.
constexpr int64_t maxElements = int64_t(1) << 24;

/// A transform of `points` numbers. `parts` is 1 for real and 2 for complex
/// numbers.
struct Transform {
  int64_t points, length, parts;
  bool isInverse = false, isOnesided = false;

  /// Whether it computes real numbers from one side of their frequencies.
  bool makesReal() const { return isInverse && isOnesided; }
  /// Number of frequencies of the result, or of points of a real result.
  int64_t frequencies() const {
    return isOnesided && !isInverse ? length / 2 + 1 : length;
  }
  int64_t resultParts() const { return makesReal() ? 1 : 2; }
  int64_t elements() const {
    return numElements({points, parts, frequencies(), resultParts()});
  }

  /// Weight of part `from` of a point for part `to` of a frequency: e^(-2 pi i
  /// * point * frequency / length), or its conjugate for the inverse. For a
  /// real result, a frequency also counts for its conjugate on the other side.
  double weight(int64_t point, int64_t from, int64_t frequency,
                int64_t to) const {
    // Reduces the product first, since a large angle would lose precision.
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
                       " frequencies needs a matrix of more than 2^24 elements",
                   "transform fewer points");
  return Error::success();
}

/// Reads a scalar operand that must be known. `otherwise` if it is missing.
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
    return problem("axis is an operand, but before opset 20 it must be an "
                   "attribute");
  if (call.opset >= 20 && call.getInt("axis", INT64_MIN) != INT64_MIN)
    return problem("axis is an attribute, but from opset 20 on it must be an "
                   "operand");
  if (*axis == rank - 1)
    return problem("axis " + Twine(*given) +
                   " holds real and imaginary parts, expected another axis");
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
        "a onesided transform of complex numbers, or a onesided inverse of "
        "real ones, is not supported",
        "transform both sides");
  if (Error error = checkSize(transform))
    return error;
  // The matrix is [points and parts, frequencies and parts]. Points beyond the
  // length of the transform are dropped, missing points are zeros.
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

/// Returns the matrix for frames, multiplied by the window, as filters
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
    return problem("a onesided transform of complex numbers is not supported",
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
