//===- Update.cpp - lowering of in-place updates --------------------------===//
//
// Optimizer rules and accumulation. Results overwrite their operands.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

using Values = SmallVector<Value>;

/// A scalar of the element type, computed in double precision from scalars.
static Value buildScalar(StructuredBuilder &b, Type element,
                         ValueRange operands, StructuredBuilder::Body body) {
  return b.map(RankedTensorType::get({}, element), operands,
               [&](StructuredBuilder &inner, ValueRange v) {
                 return inner.castFloat(body(inner, v), element);
               });
}

static Values lowerSgd(SgdOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double momentum = op.getMomentum().convertToDouble();
  double weightDecay = op.getWeightDecay().convertToDouble();
  Value lr =
      buildScalar(b, element, op.getLr(),
                  [](StructuredBuilder &, ValueRange v) { return v[0]; });
  auto buildGradient = [&](StructuredBuilder &inner, Value p,
                           Value g) -> Value {
    if (weightDecay == 0.0)
      return g;
    Value decay =
        arith::MulFOp::create(inner, inner.constant(element, weightDecay), p);
    return arith::AddFOp::create(inner, g, decay);
  };
  auto buildStep = [](StructuredBuilder &inner, Value p, Value lr, Value d) {
    return arith::SubFOp::create(inner, p,
                                 arith::MulFOp::create(inner, lr, d));
  };
  if (op.getState().empty())
    return {b.update(op.getParameter(), {op.getGradient(), lr},
                     [&](StructuredBuilder &inner, ValueRange v) -> Value {
                       Value d = buildGradient(inner, v[2], v[0]);
                       return buildStep(inner, v[2], v[1], d);
                     })};

  Value buffer =
      b.update(op.getState()[0], {op.getParameter(), op.getGradient()},
               [&](StructuredBuilder &inner, ValueRange v) -> Value {
                 Value d = buildGradient(inner, v[0], v[1]);
                 Value kept = arith::MulFOp::create(
                     inner, inner.constant(element, momentum), v[2]);
                 return arith::AddFOp::create(inner, kept, d);
               });
  Value parameter =
      b.update(op.getParameter(), {op.getGradient(), lr, buffer},
               [&](StructuredBuilder &inner, ValueRange v) -> Value {
                 Value d = v[2];
                 if (op.getNesterov())
                   d = arith::AddFOp::create(
                       inner, buildGradient(inner, v[3], v[0]),
                       arith::MulFOp::create(
                           inner, inner.constant(element, momentum), d));
                 return buildStep(inner, v[3], v[1], d);
               });
  return {parameter, buffer};
}

/// keep * state + (1 - keep) * f(g), as one moment of Adam.
static Value buildMoment(StructuredBuilder &b, Value state, double keep,
                         Value g, Value factor) {
  Type element = g.getType();
  Value old =
      arith::MulFOp::create(b, b.constant(element, keep), state);
  Value fresh = arith::MulFOp::create(b, b.constant(element, 1.0 - keep), g);
  if (factor)
    fresh = arith::MulFOp::create(b, fresh, factor);
  return arith::AddFOp::create(b, old, fresh);
}

static Values lowerAdam(AdamOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double weightDecay = op.getWeightDecay().convertToDouble();
  bool decoupled = op.getDecoupled();
  bool coupled = weightDecay != 0.0 && !decoupled;

  // 1 - beta^step, in double precision.
  auto buildCorrection = [](StructuredBuilder &inner, double beta, Value step) {
    Type f64 = inner.getF64Type();
    Value power =
        math::PowFOp::create(inner, inner.constant(f64, beta), step);
    return arith::SubFOp::create(inner, inner.constant(f64, 1.0), power);
  };
  Value stepSize = buildScalar(
      b, element, {op.getLr(), op.getStep()},
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        return arith::DivFOp::create(inner, v[0],
                                     buildCorrection(inner, beta1, v[1]));
      });
  Value rootCorrection = buildScalar(
      b, element, op.getStep(),
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        return math::SqrtOp::create(inner,
                                    buildCorrection(inner, beta2, v[0]));
      });
  Value decay = buildScalar(
      b, element, op.getLr(),
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Type f64 = inner.getF64Type();
        Value part = arith::MulFOp::create(
            inner, v[0], inner.constant(f64, weightDecay));
        return arith::SubFOp::create(inner, inner.constant(f64, 1.0), part);
      });
  auto buildGradient = [&](StructuredBuilder &inner, Value p,
                           Value g) -> Value {
    if (!coupled)
      return g;
    return arith::AddFOp::create(
        inner, g,
        arith::MulFOp::create(inner, inner.constant(element, weightDecay), p));
  };

  Value p = op.getParameter(), g = op.getGradient();
  Value m = b.update(op.getState()[0], {p, g},
                     [&](StructuredBuilder &inner, ValueRange v) -> Value {
                       Value d = buildGradient(inner, v[0], v[1]);
                       return buildMoment(inner, v[2], beta1, d, Value());
                     });
  Value s = b.update(op.getState()[1], {p, g},
                     [&](StructuredBuilder &inner, ValueRange v) -> Value {
                       Value d = buildGradient(inner, v[0], v[1]);
                       return buildMoment(inner, v[2], beta2, d, d);
                     });
  Value parameter = b.update(
      p, {m, s, stepSize, rootCorrection, decay},
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value root = math::SqrtOp::create(inner, v[1]);
        Value denominator = arith::AddFOp::create(
            inner, arith::DivFOp::create(inner, root, v[3]),
            inner.constant(element, op.getEpsilon().convertToDouble()));
        Value ratio = arith::DivFOp::create(inner, v[0], denominator);
        Value start = v[5];
        if (decoupled)
          start = arith::MulFOp::create(inner, start, v[4]);
        return arith::SubFOp::create(
            inner, start, arith::MulFOp::create(inner, v[2], ratio));
      });
  return {parameter, m, s};
}

static Values lowerAccumulate(AccumulateOp op, StructuredBuilder &b) {
  return {b.update(op.getAccumulator(), op.getX(),
                   [](StructuredBuilder &inner, ValueRange v) -> Value {
                     if (isa<FloatType>(v[0].getType()))
                       return arith::AddFOp::create(inner, v[1], v[0]);
                     return arith::AddIOp::create(inner, v[1], v[0]);
                   })};
}

void dtc::registerUpdateLowerings(MLIRContext *context) {
  attachLowering<SgdOp, lowerSgd>(context);
  attachLowering<AdamOp, lowerAdam>(context);
  attachLowering<AccumulateOp, lowerAccumulate>(context);
}
