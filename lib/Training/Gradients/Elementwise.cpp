//===- Elementwise.cpp - gradients of elementwise ops ---------------------===//
//
// g is the gradient of the result. Rules use the result y if that saves work.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"
#include <cmath>

using namespace mlir;

namespace dtc {

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static void differentiate(NegOp, Vjp &d) { d.set(0, d.neg(d.grad())); }

/// The sign of x; 0 at 0, as in PyTorch.
static void differentiate(AbsOp op, Vjp &d) {
  Value x = op.getX(), g = d.grad(), zero = d.constant(x, 0);
  Value negative = d.mask(Comparison::lt, x, zero, d.neg(g));
  d.set(0, d.select(d.compare(Comparison::gt, x, zero), g, negative));
}

static void differentiate(ExpOp op, Vjp &d) {
  d.set(0, d.mul(d.grad(), op.getY()));
}

static void differentiate(LogOp op, Vjp &d) {
  d.set(0, d.div(d.grad(), op.getX()));
}

static void differentiate(SqrtOp op, Vjp &d) {
  d.set(0, d.div(d.scale(d.grad(), 0.5), op.getY()));
}

static void differentiate(ReciprocalOp op, Vjp &d) {
  d.set(0, d.neg(d.mul(d.grad(), d.mul(op.getY(), op.getY()))));
}

/// 1 - y^2
static void differentiate(TanhOp op, Vjp &d) {
  Value y = op.getY();
  d.set(0, d.mul(d.grad(), d.sub(d.constant(y, 1), d.mul(y, y))));
}

/// 2 / sqrt(pi) * exp(-x^2)
static void differentiate(ErfOp op, Vjp &d) {
  Value x = op.getX();
  Value bell = d.create<ExpOp>(d.neg(d.mul(x, x)));
  d.set(0, d.mul(d.grad(), d.scale(bell, M_2_SQRTPI)));
}

/// y (1 - y)
static void differentiate(SigmoidOp op, Vjp &d) {
  Value y = op.getY();
  d.set(0, d.mul(d.grad(), d.mul(y, d.sub(d.constant(y, 1), y))));
}

static void differentiate(ReluOp op, Vjp &d) {
  Value y = op.getY(); // y is kept in any case, unlike x
  d.set(0, d.mask(Comparison::gt, y, d.constant(y, 0), d.grad()));
}

static void differentiate(SinOp op, Vjp &d) {
  d.set(0, d.mul(d.grad(), d.create<CosOp>(op.getX())));
}

static void differentiate(CosOp op, Vjp &d) {
  d.set(0, d.neg(d.mul(d.grad(), d.create<SinOp>(op.getX()))));
}

/// 1 / (1 + x^2)
static void differentiate(AtanOp op, Vjp &d) {
  Value x = op.getX();
  d.set(0, d.div(d.grad(), d.add(d.mul(x, x), d.constant(x, 1))));
}

/// The gradient is zero, also at integers, as in PyTorch.
static void differentiate(FloorOp, Vjp &) {}

/// Only casts between floating-point types have a gradient.
static void differentiate(CastOp op, Vjp &d) {
  Type elementType = op.getX().getType().getElementType();
  if (isa<FloatType>(elementType))
    d.set(0, d.cast(d.grad(), elementType));
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static void differentiate(AddOp, Vjp &d) {
  d.set(0, d.grad());
  d.set(1, d.grad());
}

static void differentiate(SubOp, Vjp &d) {
  d.set(0, d.grad());
  d.set(1, d.neg(d.grad()));
}

static void differentiate(MulOp op, Vjp &d) {
  d.set(0, d.mul(d.grad(), op.getRhs()));
  d.set(1, d.mul(d.grad(), op.getLhs()));
}

/// g / b and -(g / b) y
static void differentiate(DivOp op, Vjp &d) {
  Value quotient = d.div(d.grad(), op.getRhs());
  d.set(0, quotient);
  d.set(1, d.neg(d.mul(quotient, op.getResult())));
}

/// The value of a splat constant, or none.
static std::optional<double> getSplatConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

/// b a^(b-1), and 0 where b is 0. A constant exponent is decremented here, so
/// that squares and cubes stay cheap.
static Value differentiateBase(PowOp op, Vjp &d) {
  Value a = op.getLhs(), b = op.getRhs(), g = d.grad();
  std::optional<double> exponent = getSplatConstant(b);
  if (!exponent || *exponent == 0) {
    Value power = d.create<PowOp>(a, d.sub(b, d.constant(b, 1)));
    return d.mask(Comparison::ne, b, d.constant(b, 0),
                  d.mul(g, d.mul(b, power)));
  }
  if (*exponent == 1)
    return g;
  Value power =
      *exponent == 2 ? a : d.create<PowOp>(a, d.constant(b, *exponent - 1));
  return d.mul(g, d.scale(power, *exponent));
}

/// y log(a), and 0 where a is 0.
static Value differentiateExponent(PowOp op, Vjp &d) {
  Value a = op.getLhs();
  Value isZero = d.compare(Comparison::eq, a, d.constant(a, 0));
  Value log = d.create<LogOp>(d.select(isZero, d.constant(a, 1), a));
  return d.mul(d.grad(), d.mul(op.getResult(), log));
}

static void differentiate(PowOp op, Vjp &d) {
  d.set(0, differentiateBase(op, d));
  d.set(1, differentiateExponent(op, d));
}

/// The gradient of the operand that `wins` the comparison. Equal operands share
/// it, as in PyTorch.
static Value differentiateChoice(Value a, Comparison wins, Value b, Vjp &d) {
  Value shared = d.mask(Comparison::eq, a, b, d.scale(d.grad(), 0.5));
  return d.select(d.compare(wins, a, b), d.grad(), shared);
}

static void differentiate(MaximumOp op, Vjp &d) {
  Value a = op.getLhs(), b = op.getRhs();
  d.set(0, differentiateChoice(a, Comparison::gt, b, d));
  d.set(1, differentiateChoice(b, Comparison::gt, a, d));
}

static void differentiate(MinimumOp op, Vjp &d) {
  Value a = op.getLhs(), b = op.getRhs();
  d.set(0, differentiateChoice(a, Comparison::lt, b, d));
  d.set(1, differentiateChoice(b, Comparison::lt, a, d));
}

static void differentiate(SelectOp op, Vjp &d) {
  Value g = d.grad(), zero = d.constant(g, 0);
  d.set(1, d.select(op.getCondition(), g, zero));
  d.set(2, d.select(op.getCondition(), zero, g));
}

void attachElementwiseGradients(MLIRContext &context) {
  attachGradients<NegOp, AbsOp, ExpOp, LogOp, SqrtOp, ReciprocalOp, TanhOp,
                  ErfOp, SigmoidOp, ReluOp, SinOp, CosOp, AtanOp, FloorOp,
                  CastOp, AddOp, SubOp, MulOp, DivOp, PowOp, MaximumOp,
                  MinimumOp, SelectOp>(context);
}

} // namespace dtc
