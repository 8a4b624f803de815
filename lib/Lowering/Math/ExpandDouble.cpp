//===- ExpandDouble.cpp - functions of f64 as arithmetic ------------------===//
//
// For targets without a math library. Uses the standard range reductions:
// exp(x) is 2^n exp(r) with |r| <= ln(2) / 2, and log(x) is n ln(2) + log(m)
// with m near 1 (W. J. Cody and W. Waite, Software Manual for the Elementary
// Functions, 1980). Short series compute the rest.
//
//===----------------------------------------------------------------------===//

#include "ExpandDouble.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace dtc;

// ln(2) as a sum of two parts. The last bits of the first are zeros.
constexpr double ln2High = 0x1.62e42fee00000p-1, ln2Low = 0x1.a39ef35793c76p-33;
constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// Arithmetic on values of f64 and i64, scalars or vectors of one shape.
struct DoubleBuilder : ImplicitLocOpBuilder {
  DoubleBuilder(Location loc, OpBuilder &b, Type shape)
      : ImplicitLocOpBuilder(loc, b), shape(shape) {}

  Type withElement(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? vector.clone(element) : element;
  }
  Value constant(double value) { return splat(getF64FloatAttr(value)); }
  Value integer(int64_t value) { return splat(getI64IntegerAttr(value)); }
  Value splat(TypedAttr value) {
    Type type = withElement(value.getType());
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(*this, value);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(*this, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(*this, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(*this, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(*this, x, y, z);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(*this, condition, x, y);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, double y) {
    return arith::CmpFOp::create(*this, predicate, x, constant(y));
  }
  Value isEqual(Value x, Value y) {
    return arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, x, y);
  }
  /// A polynomial in x. Coefficients are in descending order of powers.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }
  /// 2^n as f64, for an integer n (i64) between -1022 and 1023.
  Value powerOfTwo(Value n) {
    Value biased = arith::AddIOp::create(*this, n, integer(1023));
    Value bits = arith::ShLIOp::create(*this, biased, integer(52));
    return arith::BitcastOp::create(*this, withElement(getF64Type()), bits);
  }

  Value exp(Value x);
  Value log(Value x);
  Value pow(Value x, Value y);

  Type shape;
};

} // namespace

Value DoubleBuilder::exp(Value x) {
  Value log2e = constant(0x1.71547652b82fep0);
  Value n = math::RoundEvenOp::create(*this, mul(x, log2e));
  Value bounded = arith::MaximumFOp::create(
      *this, arith::MinimumFOp::create(*this, n, constant(1100)),
      constant(-1100));
  Value r = fma(bounded, constant(-ln2High), x);
  r = fma(bounded, constant(-ln2Low), r);
  // 1 + r + r^2 / 2! + ... + r^13 / 13!.
  SmallVector<double> series = {1.0};
  for (int degree = 1; degree <= 13; ++degree)
    series.insert(series.begin(), series.front() / degree);
  Value result = polynomial(r, series);
  // Scales in two steps, so that the result can be subnormal.
  Value whole =
      arith::FPToSIOp::create(*this, withElement(getI64Type()), bounded);
  Value half = arith::ShRSIOp::create(*this, whole, integer(1));
  Value rest = arith::SubIOp::create(*this, whole, half);
  result = mul(mul(result, powerOfTwo(half)), powerOfTwo(rest));
  result = select(compare(arith::CmpFPredicate::OGT, x, 710),
                  constant(infinity), result);
  result = select(compare(arith::CmpFPredicate::OLT, x, -746), constant(0.0),
                  result);
  return select(compare(arith::CmpFPredicate::UNO, x, 0), x, result);
}

/// The result is wrong for subnormal numbers, which have no leading 1 bit.
Value DoubleBuilder::log(Value x) {
  Type i64 = withElement(getI64Type()), f64 = withElement(getF64Type());
  // x = m 2^n with sqrt(1/2) <= m < sqrt(2).
  Value bits = arith::BitcastOp::create(*this, i64, x);
  Value shifted =
      arith::SubIOp::create(*this, bits, integer(0x3fe6a09e667f3bcd));
  Value n = arith::ShRSIOp::create(*this, shifted, integer(52));
  Value scaled = arith::SubIOp::create(
      *this, bits, arith::ShLIOp::create(*this, n, integer(52)));
  Value m = arith::BitcastOp::create(*this, f64, scaled);
  // log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (m - 1) / (m + 1). With f
  // = m - 1, this is f - s (f - R), where R is the series without its first
  // term.
  Value f = sub(m, constant(1.0));
  Value s = arith::DivFOp::create(*this, f, add(m, constant(1.0)));
  Value z = mul(s, s);
  SmallVector<double> series;
  for (int power = 23; power >= 3; power -= 2)
    series.push_back(2.0 / power);
  Value rest = mul(polynomial(z, series), z);
  Value exponent = arith::SIToFPOp::create(*this, f64, n);
  Value low = mul(s, sub(f, rest));
  low = sub(mul(exponent, constant(ln2Low)), low);
  Value result = add(mul(exponent, constant(ln2High)), add(f, low));
  result = select(compare(arith::CmpFPredicate::OEQ, x, infinity), x, result);
  result = select(compare(arith::CmpFPredicate::OEQ, x, 0.0),
                  constant(-infinity), result);
  Value nan = constant(std::numeric_limits<double>::quiet_NaN());
  return select(compare(arith::CmpFPredicate::ULT, x, 0.0), nan, result);
}

/// Like pow of C.
Value DoubleBuilder::pow(Value x, Value y) {
  Value result = exp(mul(y, log(math::AbsFOp::create(*this, x))));
  // A negative number has powers only if y is an integer. They are negative if
  // y is odd.
  Value half = mul(y, constant(0.5));
  Value isWhole = isEqual(math::FloorOp::create(*this, y), y);
  Value isEven = isEqual(math::FloorOp::create(*this, half), half);
  Value negative = arith::NegFOp::create(*this, result);
  Value nan = constant(std::numeric_limits<double>::quiet_NaN());
  Value ofNegative = select(isWhole, select(isEven, result, negative), nan);
  result =
      select(compare(arith::CmpFPredicate::OLT, x, 0.0), ofNegative, result);
  Value isOne =
      arith::OrIOp::create(*this, compare(arith::CmpFPredicate::OEQ, y, 0.0),
                           compare(arith::CmpFPredicate::OEQ, x, 1.0));
  return select(isOne, constant(1.0), result);
}

namespace {

template <typename OpType, Value (DoubleBuilder::*build)(Value)>
struct ExpandUnary : OpRewritePattern<OpType> {
  using OpRewritePattern<OpType>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpType op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    if (!getElementTypeOrSelf(x).isF64())
      return failure();
    DoubleBuilder b(op.getLoc(), rewriter, x.getType());
    rewriter.replaceOp(op, (b.*build)(x));
    return success();
  }
};

struct ExpandPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    DoubleBuilder b(op.getLoc(), rewriter, type);
    Type f64 = b.withElement(b.getF64Type());
    if (type == f64) {
      rewriter.replaceOp(op, b.pow(op.getLhs(), op.getRhs()));
      return success();
    }
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    auto widen = [&](Value x) -> Value {
      return arith::ExtFOp::create(b, f64, x);
    };
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(
        op, type, b.pow(widen(op.getLhs()), widen(op.getRhs())));
    return success();
  }
};

} // namespace

void dtc::populateExpandDoublePatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandUnary<math::ExpOp, &DoubleBuilder::exp>,
               ExpandUnary<math::LogOp, &DoubleBuilder::log>, ExpandPower>(
      patterns.getContext());
}
