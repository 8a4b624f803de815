//===- Pooling.cpp - lowering of poolings ---------------------------------===//
//
// Taps are unrolled. An element reads each pixel of its window. In a gradient,
// it reads each window that contains its pixel. A tap reads a row of channels
// at a position that follows from the loops.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace dtc;

namespace {

/// One axis of the windows, with the mapping between positions and pixels.
struct Axis {
  int64_t pixels, positions, taps, stride, padding, dilation;

  static Axis vertical(const Window &w) {
    return {w.height,       w.rows, w.kernelHeight,
            w.strideHeight, w.top,  w.dilationHeight};
  }
  static Axis horizontal(const Window &w) {
    return {w.width,       w.columns, w.kernelWidth,
            w.strideWidth, w.left,    w.dilationWidth};
  }
};

/// An index, and whether it is inside the tensor; null if it always is.
struct Place {
  Value index, isInside;
};

/// Builds the body of a map over positions or over pixels.
class TapBuilder {
public:
  TapBuilder(StructuredBuilder &b, const Window &window)
      : b(b), vertical(Axis::vertical(window)),
        horizontal(Axis::horizontal(window)) {}

  /// The pixel under a tap of the window at the loops' position.
  Place getPixel(const Axis &axis, unsigned loop, int64_t tap) {
    int64_t shift = tap * axis.dilation - axis.padding;
    Value at =
        add(multiply(linalg::IndexOp::create(b, loop), axis.stride), shift);
    bool isInside =
        shift >= 0 && (axis.positions - 1) * axis.stride + shift < axis.pixels;
    return isInside ? Place{at, {}} : clamp(at, axis.pixels, {});
  }

  /// The position of the window that has the loops' pixel under tap `tap`.
  Place getPosition(const Axis &axis, unsigned loop, int64_t tap) {
    int64_t shift = axis.padding - tap * axis.dilation;
    Value at = add(linalg::IndexOp::create(b, loop), shift);
    if (axis.stride == 1)
      return clamp(at, axis.positions, {});
    // Adds a multiple that keeps the number non-negative, so that unsigned
    // division is right.
    int64_t more = llvm::divideCeil(axis.taps * axis.dilation, axis.stride);
    Value shifted = add(at, more * axis.stride);
    Value stride = getIndex(axis.stride);
    Value quotient = arith::DivUIOp::create(b, shifted, stride);
    Value whole = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq, arith::MulIOp::create(b, quotient, stride),
        shifted);
    return clamp(add(quotient, -more), axis.positions, whole);
  }

  /// Calls body(tap, y, x, inside) for the pixels under the window at the
  /// loops' position, row by row. `inside` is null if the pixel is always
  /// inside.
  template <typename Body> void forEachPixel(const Body &body) {
    for (int64_t tap : llvm::seq(vertical.taps * horizontal.taps)) {
      Place y = getPixel(vertical, 1, tap / horizontal.taps);
      Place x = getPixel(horizontal, 2, tap % horizontal.taps);
      body(tap, y.index, x.index, both(y.isInside, x.isInside));
    }
  }
  /// Calls body for the positions of the windows that contain the loops' pixel.
  /// Positions ascend while the pixel's taps descend.
  template <typename Body> void forEachPosition(const Body &body) {
    for (int64_t tap :
         llvm::reverse(llvm::seq(vertical.taps * horizontal.taps))) {
      Place y = getPosition(vertical, 1, tap / horizontal.taps);
      Place x = getPosition(horizontal, 2, tap % horizontal.taps);
      body(tap, y.index, x.index, both(y.isInside, x.isInside));
    }
  }

  /// The element of the loops' channel at (y, x), as a float of the compute
  /// type.
  Value read(Value tensor, Value y, Value x) {
    Value element =
        tensor::ExtractOp::create(b, tensor,
                                  ValueRange{linalg::IndexOp::create(b, 0), y,
                                             x, linalg::IndexOp::create(b, 3)});
    Type type = element.getType();
    return isa<FloatType>(type) ? b.castFloat(element, getComputeType(type))
                                : element;
  }
  /// `value`, or `other` if the condition does not hold. A null condition
  /// always holds.
  Value selectIf(Value condition, Value value, Value other) {
    return condition ? arith::SelectOp::create(b, condition, value, other)
                     : value;
  }
  Value both(Value a, Value c) {
    if (!a || !c)
      return a ? a : c;
    return arith::AndIOp::create(b, a, c);
  }

private:
  Value getIndex(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value a, int64_t c) {
    return c == 0 ? a : arith::AddIOp::create(b, a, getIndex(c));
  }
  Value multiply(Value a, int64_t c) {
    return c == 1 ? a : arith::MulIOp::create(b, a, getIndex(c));
  }
  /// Sets an index that is outside, or that violates the condition, to 0.
  Place clamp(Value at, int64_t size, Value condition) {
    // An unsigned comparison also rejects negative indices.
    Value isInside =
        both(condition, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                              getIndex(size)));
    return {arith::SelectOp::create(b, isInside, at, getIndex(0)), isInside};
  }

  StructuredBuilder &b;
  Axis vertical, horizontal;
};

} // namespace

/// Builds each element of the result with a body that reads its operands
/// itself.
static Value
mapTaps(StructuredBuilder &b, RankedTensorType type, const Window &window,
        function_ref<Value(StructuredBuilder &, TapBuilder &)> body) {
  return b.map(type, ValueRange(), ArrayRef<AffineMap>(),
               [&](StructuredBuilder &inner, ValueRange) {
                 TapBuilder taps(inner, window);
                 return body(inner, taps);
               });
}

namespace {

/// The largest pixel so far and its tap, -1 before the first. A NaN counts as
/// larger than all numbers, and the first NaN wins.
struct Largest {
  Value value, tap;

  Largest(StructuredBuilder &b, Type type)
      : value(b.constant(type, -std::numeric_limits<double>::infinity())),
        tap(b.constant(b.getI32Type(), -1)) {}

  void add(StructuredBuilder &b, TapBuilder &taps, Value pixel, int64_t number,
           Value isInside) {
    Value isLarger =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, pixel, value);
    Value isNaN =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, pixel, pixel);
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, tap,
                                          b.constant(b.getI32Type(), 0));
    Value isBest = arith::OrIOp::create(
        b, arith::OrIOp::create(b, isLarger, isNaN), isFirst);
    isBest = taps.both(isBest, isInside);
    value = arith::SelectOp::create(b, isBest, pixel, value);
    tap = arith::SelectOp::create(
        b, isBest, b.constant(b.getI32Type(), double(number)), tap);
  }
};

} // namespace

static Largest findLargest(StructuredBuilder &b, TapBuilder &taps,
                           Value images) {
  Largest largest(b, getComputeType(getElementTypeOrSelf(images)));
  taps.forEachPixel([&](int64_t tap, Value y, Value x, Value isInside) {
    largest.add(b, taps, taps.read(images, y, x), tap, isInside);
  });
  return largest;
}

static SmallVector<Value> lowerMaxPool(MaxPool2DOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getPositions().getType();
  return {mapTaps(
      b, type, op.getWindow(), [&](StructuredBuilder &inner, TapBuilder &taps) {
        return inner.castFloat(findLargest(inner, taps, op.getImages()).value,
                               type.getElementType());
      })};
}

/// First computes the tap of each window's maximum, then, for each pixel, sums
/// the windows whose maximum it is.
static SmallVector<Value> lowerMaxPoolGrad(MaxPool2DGradOp op,
                                           StructuredBuilder &b) {
  RankedTensorType type = op.getDimages().getType();
  RankedTensorType positions = op.getPositions().getType();
  Value largest = mapTaps(b, positions.clone(b.getI32Type()), op.getWindow(),
                          [&](StructuredBuilder &inner, TapBuilder &taps) {
                            return findLargest(inner, taps, op.getImages()).tap;
                          });
  return {mapTaps(
      b, type, op.getWindow(), [&](StructuredBuilder &inner, TapBuilder &taps) {
        Type compute = getComputeType(type.getElementType());
        Value zero = inner.constant(compute, 0), sum = zero;
        taps.forEachPosition([&](int64_t tap, Value y, Value x,
                                 Value isInside) {
          Value isLargest = arith::CmpIOp::create(
              inner, arith::CmpIPredicate::eq, taps.read(largest, y, x),
              inner.constant(inner.getI32Type(), double(tap)));
          Value term = taps.selectIf(taps.both(isInside, isLargest),
                                     taps.read(op.getPositions(), y, x), zero);
          sum = arith::AddFOp::create(inner, sum, term);
        });
        return inner.castFloat(sum, type.getElementType());
      })};
}

/// Sums a tensor's elements at the pixels under a window, or at the positions
/// of the windows that contain a pixel.
static SmallVector<Value> lowerSum(StructuredBuilder &b, const Window &window,
                                   bool overPixels, Value from,
                                   RankedTensorType type) {
  return {
      mapTaps(b, type, window, [&](StructuredBuilder &inner, TapBuilder &taps) {
        Value zero = inner.constant(getComputeType(type.getElementType()), 0);
        Value sum = zero;
        auto add = [&](int64_t, Value y, Value x, Value isInside) {
          Value term = taps.selectIf(isInside, taps.read(from, y, x), zero);
          sum = arith::AddFOp::create(inner, sum, term);
        };
        if (overPixels)
          taps.forEachPixel(add);
        else
          taps.forEachPosition(add);
        return inner.castFloat(sum, type.getElementType());
      })};
}

static SmallVector<Value> lowerSumPool(SumPool2DOp op, StructuredBuilder &b) {
  return lowerSum(b, op.getWindow(), /*overPixels=*/true, op.getImages(),
                  op.getPositions().getType());
}

static SmallVector<Value> lowerSumPoolGrad(SumPool2DGradOp op,
                                           StructuredBuilder &b) {
  return lowerSum(b, op.getWindow(), /*overPixels=*/false, op.getPositions(),
                  op.getImages().getType());
}

void dtc::registerPoolingLowerings(MLIRContext *context) {
  attachLowering<MaxPool2DOp, lowerMaxPool>(context);
  attachLowering<MaxPool2DGradOp, lowerMaxPoolGrad>(context);
  attachLowering<SumPool2DOp, lowerSumPool>(context);
  attachLowering<SumPool2DGradOp, lowerSumPoolGrad>(context);
}
