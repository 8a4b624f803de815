//===- Elementwise.cpp - lowering of elementwise ops ----------------------===//
//
// Each op is one map with a scalar body, on floats or integers.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dtc;

using Values = SmallVector<Value>;

static RankedTensorType getType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

/// A model that computes result elements as `scalar(op, operand elements)`.
template <typename OpType,
          Value (*scalar)(OpType, StructuredBuilder &, ValueRange)>
static Values lowerMap(OpType op, StructuredBuilder &b) {
  return {b.map(getType(op), op->getOperands(),
                [&](StructuredBuilder &inner, ValueRange x) {
                  return scalar(op, inner, x);
                })};
}

template <typename OpType,
          Value (*scalar)(OpType, StructuredBuilder &, ValueRange)>
static void attachMap(MLIRContext *context) {
  attachLowering<OpType, lowerMap<OpType, scalar>>(context);
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

template <typename OpType, typename ScalarOp>
static Value lowerUnary(OpType, StructuredBuilder &b, ValueRange x) {
  return ScalarOp::create(b, x[0]);
}

static Value lowerReciprocal(ReciprocalOp, StructuredBuilder &b, ValueRange x) {
  return arith::DivFOp::create(b, b.constant(x[0].getType(), 1.0), x[0]);
}

static Value lowerSigmoid(SigmoidOp, StructuredBuilder &b, ValueRange x) {
  Value one = b.constant(x[0].getType(), 1.0);
  Value e = math::ExpOp::create(b, arith::NegFOp::create(b, x[0]));
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, e));
}

static Value lowerRelu(ReluOp, StructuredBuilder &b, ValueRange x) {
  // The comparison with NaN is false, so NaN is kept.
  Value zero = b.constant(x[0].getType(), 0.0);
  Value negative =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x[0], zero);
  return arith::SelectOp::create(b, negative, zero, x[0]);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

template <typename OpType, typename FloatOp, typename IntOp>
static Value lowerBinary(OpType, StructuredBuilder &b, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return FloatOp::create(b, x[0], x[1]);
  return IntOp::create(b, x[0], x[1]);
}

/// The value of a constant with one element, or none.
static std::optional<double> getScalar(Value value) {
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

/// x to a small constant power, as products.
static Value buildPower(StructuredBuilder &b, Value x, unsigned exponent) {
  Value result;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = result ? arith::MulFOp::create(b, result, x).getResult() : x;
    if (exponent > 1)
      x = arith::MulFOp::create(b, x, x);
  }
  return result ? result : b.constant(x.getType(), 1.0);
}

static Values lowerPow(PowOp op, StructuredBuilder &b) {
  constexpr double largestUnrolled = 16.0;
  std::optional<double> exponent = getScalar(op.getRhs());
  if (exponent == 0.5)
    return {b.map(getType(op), op.getLhs(),
                  [](StructuredBuilder &inner, ValueRange x) -> Value {
                    return math::SqrtOp::create(inner, x[0]);
                  })};
  if (exponent && *exponent == std::floor(*exponent) &&
      std::abs(*exponent) <= largestUnrolled)
    return {b.map(getType(op), op.getLhs(),
                  [&](StructuredBuilder &inner, ValueRange x) -> Value {
                    auto times = static_cast<unsigned>(std::abs(*exponent));
                    Value power = buildPower(inner, x[0], times);
                    if (*exponent >= 0)
                      return power;
                    Value one = inner.constant(x[0].getType(), 1.0);
                    return arith::DivFOp::create(inner, one, power);
                  })};
  return lowerMap<PowOp, lowerBinary<PowOp, math::PowFOp, math::IPowIOp>>(op,
                                                                          b);
}

static Value lowerCompare(CompareOp op, StructuredBuilder &b, ValueRange x) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  // Only `ne` is unordered, because a NaN differs from everything.
  constexpr F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  constexpr I ints[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  auto index = static_cast<unsigned>(op.getPredicate());
  if (isa<FloatType>(x[0].getType()))
    return arith::CmpFOp::create(b, floats[index], x[0], x[1]);
  return arith::CmpIOp::create(b, ints[index], x[0], x[1]);
}

static Value lowerNot(LogicalNotOp, StructuredBuilder &b, ValueRange x) {
  return arith::XOrIOp::create(b, x[0], b.constant(x[0].getType(), 1));
}

template <typename OpType, typename ScalarOp>
static Value lowerLogical(OpType, StructuredBuilder &b, ValueRange x) {
  return ScalarOp::create(b, x[0], x[1]);
}

static Value lowerSelect(SelectOp, StructuredBuilder &b, ValueRange x) {
  return arith::SelectOp::create(b, x[0], x[1], x[2]);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static Value lowerCast(CastOp op, StructuredBuilder &b, ValueRange x) {
  Type from = x[0].getType(), to = getType(op).getElementType();
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (from == to)
    return x[0];
  if (fromFloat && toFloat)
    return b.castFloat(x[0], to);
  if (to.isInteger(1)) {
    Value zero = b.constant(from, 0);
    if (fromFloat)
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x[0], zero);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x[0], zero);
  }
  if (fromFloat)
    return arith::FPToSIOp::create(b, to, x[0]);
  bool fromBool = from.isInteger(1);
  if (toFloat)
    return fromBool ? arith::UIToFPOp::create(b, to, x[0]).getResult()
                    : arith::SIToFPOp::create(b, to, x[0]).getResult();
  if (fromBool)
    return arith::ExtUIOp::create(b, to, x[0]);
  return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
             ? arith::ExtSIOp::create(b, to, x[0]).getResult()
             : arith::TruncIOp::create(b, to, x[0]).getResult();
}

void dtc::registerElementwiseLowerings(MLIRContext *context) {
  attachMap<NegOp, lowerUnary<NegOp, arith::NegFOp>>(context);
  attachMap<AbsOp, lowerUnary<AbsOp, math::AbsFOp>>(context);
  attachMap<ExpOp, lowerUnary<ExpOp, math::ExpOp>>(context);
  attachMap<LogOp, lowerUnary<LogOp, math::LogOp>>(context);
  attachMap<SqrtOp, lowerUnary<SqrtOp, math::SqrtOp>>(context);
  attachMap<TanhOp, lowerUnary<TanhOp, math::TanhOp>>(context);
  attachMap<ErfOp, lowerUnary<ErfOp, math::ErfOp>>(context);
  attachMap<SinOp, lowerUnary<SinOp, math::SinOp>>(context);
  attachMap<CosOp, lowerUnary<CosOp, math::CosOp>>(context);
  attachMap<AtanOp, lowerUnary<AtanOp, math::AtanOp>>(context);
  attachMap<FloorOp, lowerUnary<FloorOp, math::FloorOp>>(context);
  attachMap<ReciprocalOp, lowerReciprocal>(context);
  attachMap<SigmoidOp, lowerSigmoid>(context);
  attachMap<ReluOp, lowerRelu>(context);
  attachMap<AddOp, lowerBinary<AddOp, arith::AddFOp, arith::AddIOp>>(context);
  attachMap<SubOp, lowerBinary<SubOp, arith::SubFOp, arith::SubIOp>>(context);
  attachMap<MulOp, lowerBinary<MulOp, arith::MulFOp, arith::MulIOp>>(context);
  attachMap<DivOp, lowerBinary<DivOp, arith::DivFOp, arith::DivSIOp>>(context);
  attachMap<MaximumOp,
            lowerBinary<MaximumOp, arith::MaximumFOp, arith::MaxSIOp>>(context);
  attachMap<MinimumOp,
            lowerBinary<MinimumOp, arith::MinimumFOp, arith::MinSIOp>>(context);
  attachLowering<PowOp, lowerPow>(context);
  attachMap<CompareOp, lowerCompare>(context);
  attachMap<LogicalAndOp, lowerLogical<LogicalAndOp, arith::AndIOp>>(context);
  attachMap<LogicalOrOp, lowerLogical<LogicalOrOp, arith::OrIOp>>(context);
  attachMap<LogicalNotOp, lowerNot>(context);
  attachMap<SelectOp, lowerSelect>(context);
  attachMap<CastOp, lowerCast>(context);
}
