//===- Update.cpp - lowering of in-place updates --------------------------===//
//
// Optimizer rules and gradient accumulation. Results overwrite their operands,
// except clipped gradients and update directions, which are new tensors.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

using Values = SmallVector<Value>;

/// `updated`, or `old` if `x` is NaN.
static Value skipNan(StructuredBuilder &b, Value x, Value old, Value updated) {
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, isNan, old, updated);
}

/// Overwrites a parameter or a state, which is the last argument of the body.
/// Keeps the old value where the gradient is NaN, if the op skips such updates.
template <typename OpType>
static Value update(OpType op, StructuredBuilder &b, Value target,
                    ValueRange operands, StructuredBuilder::Body body) {
  if (!op->hasAttr(attr::skipNan))
    return b.update(target, operands, body);
  SmallVector<Value> withGradient(operands);
  withGradient.push_back(op.getGradient());
  return b.update(target, withGradient,
                  [&](StructuredBuilder &inner, ValueRange v) -> Value {
                    Value g = v[v.size() - 2], old = v.back();
                    SmallVector<Value> own(v.drop_back(2));
                    own.push_back(old);
                    return skipNan(inner, g, old, body(inner, own));
                  });
}

/// A scalar of the element type. It is computed in double precision from
/// scalars.
static Value buildScalar(StructuredBuilder &b, Type element,
                         ValueRange operands, StructuredBuilder::Body body) {
  return b.map(RankedTensorType::get({}, element), operands,
               [&](StructuredBuilder &inner, ValueRange v) {
                 return inner.castFloat(body(inner, v), element);
               });
}

/// g + weightDecay * p.
static Value buildDecayed(StructuredBuilder &b, Value g, Value p,
                          double weightDecay) {
  if (weightDecay == 0.0)
    return g;
  Value decay =
      arith::MulFOp::create(b, b.constant(g.getType(), weightDecay), p);
  return arith::AddFOp::create(b, g, decay);
}

/// p - lr * d.
static Value buildStep(StructuredBuilder &b, Value p, Value lr, Value d) {
  return arith::SubFOp::create(b, p, arith::MulFOp::create(b, lr, d));
}

static Value buildLr(StructuredBuilder &b, Type element, Value lr) {
  return buildScalar(b, element, lr,
                     [](StructuredBuilder &, ValueRange v) { return v[0]; });
}

static Values lowerSgd(SgdOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double momentum = op.getMomentum().convertToDouble();
  double weightDecay = op.getWeightDecay().convertToDouble();
  Value lr = buildLr(b, element, op.getLr());
  if (op.getState().empty())
    return {update(op, b, op.getParameter(), {op.getGradient(), lr},
                   [&](StructuredBuilder &inner, ValueRange v) -> Value {
                     Value d = buildDecayed(inner, v[0], v[2], weightDecay);
                     return buildStep(inner, v[2], v[1], d);
                   })};

  Value buffer =
      update(op, b, op.getState()[0], {op.getParameter(), op.getGradient()},
             [&](StructuredBuilder &inner, ValueRange v) -> Value {
               Value d = buildDecayed(inner, v[1], v[0], weightDecay);
               Value kept = arith::MulFOp::create(
                   inner, inner.constant(element, momentum), v[2]);
               return arith::AddFOp::create(inner, kept, d);
             });
  Value parameter =
      update(op, b, op.getParameter(), {op.getGradient(), lr, buffer},
             [&](StructuredBuilder &inner, ValueRange v) -> Value {
               Value d = v[2];
               if (op.getNesterov())
                 d = arith::AddFOp::create(
                     inner, buildDecayed(inner, v[0], v[3], weightDecay),
                     arith::MulFOp::create(
                         inner, inner.constant(element, momentum), d));
               return buildStep(inner, v[3], v[1], d);
             });
  return {parameter, buffer};
}

/// A moment: keep * state + (1 - keep) * g * factor. A null factor is 1.
static Value buildMoment(StructuredBuilder &b, Value state, double keep,
                         Value g, Value factor) {
  Type element = g.getType();
  Value old = arith::MulFOp::create(b, b.constant(element, keep), state);
  Value fresh = arith::MulFOp::create(b, b.constant(element, 1.0 - keep), g);
  if (factor)
    fresh = arith::MulFOp::create(b, fresh, factor);
  return arith::AddFOp::create(b, old, fresh);
}

namespace {

/// The first and second moment of Adam and its variants, with their bias
/// corrections (Kingma and Ba, arXiv 1412.6980).
struct Moments {
  Value first, second;
  /// 1 - beta1^step and sqrt(1 - beta2^step), of the element type.
  Value correction, rootCorrection;
};

} // namespace

/// 1 - beta^step, in double precision.
static Value buildCorrection(StructuredBuilder &b, double beta, Value step) {
  Type f64 = b.getF64Type();
  Value power = math::PowFOp::create(b, b.constant(f64, beta), step);
  return arith::SubFOp::create(b, b.constant(f64, 1.0), power);
}

/// Adds weight decay to the gradient if `coupled`.
template <typename OpType>
static Moments lowerMoments(OpType op, StructuredBuilder &b, double coupled) {
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  Type element = op.getParameter().getType().getElementType();
  Value operands[] = {op.getParameter(), op.getGradient()};
  Moments moments;
  moments.rootCorrection = buildScalar(
      b, element, op.getStep(),
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        return math::SqrtOp::create(inner, buildCorrection(inner, beta2, v[0]));
      });
  moments.first = update(op, b, op.getState()[0], operands,
                         [&](StructuredBuilder &inner, ValueRange v) -> Value {
                           Value d = buildDecayed(inner, v[1], v[0], coupled);
                           return buildMoment(inner, v[2], beta1, d, Value());
                         });
  moments.second = update(op, b, op.getState()[1], operands,
                          [&](StructuredBuilder &inner, ValueRange v) -> Value {
                            Value d = buildDecayed(inner, v[1], v[0], coupled);
                            return buildMoment(inner, v[2], beta2, d, d);
                          });
  return moments;
}

/// m / (sqrt(v) / rootCorrection + epsilon).
static Value buildRatio(StructuredBuilder &b, Value m, Value v,
                        Value rootCorrection, double epsilon) {
  Value root = math::SqrtOp::create(b, v);
  Value denominator =
      arith::AddFOp::create(b, arith::DivFOp::create(b, root, rootCorrection),
                            b.constant(m.getType(), epsilon));
  return arith::DivFOp::create(b, m, denominator);
}

static Values lowerAdam(AdamOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double weightDecay = op.getWeightDecay().convertToDouble();
  double epsilon = op.getEpsilon().convertToDouble();
  bool decoupled = op.getDecoupled();
  Value stepSize =
      buildScalar(b, element, {op.getLr(), op.getStep()},
                  [&](StructuredBuilder &inner, ValueRange v) -> Value {
                    double beta1 = op.getBeta1().convertToDouble();
                    return arith::DivFOp::create(
                        inner, v[0], buildCorrection(inner, beta1, v[1]));
                  });
  Value decay = buildScalar(
      b, element, op.getLr(),
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Type f64 = inner.getF64Type();
        Value part = arith::MulFOp::create(inner, v[0],
                                           inner.constant(f64, weightDecay));
        return arith::SubFOp::create(inner, inner.constant(f64, 1.0), part);
      });
  Moments moments = lowerMoments(op, b, decoupled ? 0.0 : weightDecay);
  Value parameter = update(
      op, b, op.getParameter(),
      {moments.first, moments.second, stepSize, moments.rootCorrection, decay},
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value start = v[5];
        if (decoupled)
          start = arith::MulFOp::create(inner, start, v[4]);
        return buildStep(inner, start, v[2],
                         buildRatio(inner, v[0], v[1], v[3], epsilon));
      });
  return {parameter, moments.first, moments.second};
}

static Values lowerAdamDirection(AdamDirectionOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double weightDecay = op.getWeightDecay().convertToDouble();
  double epsilon = op.getEpsilon().convertToDouble();
  Value correction = buildScalar(
      b, element, op.getStep(),
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        return buildCorrection(inner, op.getBeta1().convertToDouble(), v[0]);
      });
  Moments moments = lowerMoments(op, b, 0.0);
  Value direction = b.map(
      op.getDirection().getType(),
      {moments.first, moments.second, correction, moments.rootCorrection,
       op.getParameter()},
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value m = arith::DivFOp::create(inner, v[0], v[2]);
        return buildDecayed(inner, buildRatio(inner, m, v[1], v[3], epsilon),
                            v[4], weightDecay);
      });
  return {direction, moments.first, moments.second};
}

/// d / (sqrt(v) + epsilon).
static Value buildScaled(StructuredBuilder &b, Value d, Value v,
                         double epsilon) {
  Value denominator = arith::AddFOp::create(b, math::SqrtOp::create(b, v),
                                            b.constant(d.getType(), epsilon));
  return arith::DivFOp::create(b, d, denominator);
}

static Values lowerRmsProp(RmsPropOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double alpha = op.getAlpha().convertToDouble();
  double epsilon = op.getEpsilon().convertToDouble();
  double momentum = op.getMomentum().convertToDouble();
  double weightDecay = op.getWeightDecay().convertToDouble();
  Value p = op.getParameter(), g = op.getGradient();
  Value lr = buildLr(b, element, op.getLr());
  Value average = update(op, b, op.getState()[0], {p, g},
                         [&](StructuredBuilder &inner, ValueRange v) -> Value {
                           Value d =
                               buildDecayed(inner, v[1], v[0], weightDecay);
                           return buildMoment(inner, v[2], alpha, d, d);
                         });
  if (op.getState().size() == 1) {
    Value parameter =
        update(op, b, p, {g, average, lr},
               [&](StructuredBuilder &inner, ValueRange v) -> Value {
                 Value d = buildDecayed(inner, v[0], v[3], weightDecay);
                 return buildStep(inner, v[3], v[2],
                                  buildScaled(inner, d, v[1], epsilon));
               });
    return {parameter, average};
  }
  Value buffer =
      update(op, b, op.getState()[1], {p, g, average},
             [&](StructuredBuilder &inner, ValueRange v) -> Value {
               Value d = buildDecayed(inner, v[1], v[0], weightDecay);
               Value kept = arith::MulFOp::create(
                   inner, inner.constant(element, momentum), v[3]);
               return arith::AddFOp::create(
                   inner, kept, buildScaled(inner, d, v[2], epsilon));
             });
  Value parameter =
      update(op, b, p, {buffer, lr},
             [&](StructuredBuilder &inner, ValueRange v) -> Value {
               return buildStep(inner, v[2], v[1], v[0]);
             });
  return {parameter, average, buffer};
}

static Values lowerAdagrad(AdagradOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double epsilon = op.getEpsilon().convertToDouble();
  double weightDecay = op.getWeightDecay().convertToDouble();
  Value p = op.getParameter(), g = op.getGradient();
  Value lr = buildLr(b, element, op.getLr());
  Value sum = update(op, b, op.getState()[0], {p, g},
                     [&](StructuredBuilder &inner, ValueRange v) -> Value {
                       Value d = buildDecayed(inner, v[1], v[0], weightDecay);
                       return arith::AddFOp::create(
                           inner, v[2], arith::MulFOp::create(inner, d, d));
                     });
  Value parameter =
      update(op, b, p, {g, sum, lr},
             [&](StructuredBuilder &inner, ValueRange v) -> Value {
               Value d = buildDecayed(inner, v[0], v[3], weightDecay);
               return buildStep(inner, v[3], v[2],
                                buildScaled(inner, d, v[1], epsilon));
             });
  return {parameter, sum};
}

static Values lowerLion(LionOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double weightDecay = op.getWeightDecay().convertToDouble();
  Value g = op.getGradient(), m = op.getState()[0];
  Value lr = buildLr(b, element, op.getLr());
  // Updates the parameter first, because it needs the old state.
  Value parameter = update(
      op, b, op.getParameter(), {g, m, lr},
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value mixed = buildMoment(inner, v[1], beta1, v[0], Value());
        Value zero = inner.constant(element, 0.0);
        auto isSign = [&](arith::CmpFPredicate predicate, double sign,
                          Value otherwise) -> Value {
          return arith::SelectOp::create(
              inner, arith::CmpFOp::create(inner, predicate, mixed, zero),
              inner.constant(element, sign), otherwise);
        };
        // The sign of zero is zero, and that of NaN is NaN.
        Value sign = isSign(arith::CmpFPredicate::OGT, 1.0,
                            isSign(arith::CmpFPredicate::OLT, -1.0, mixed));
        return buildStep(inner, v[3], v[2],
                         buildDecayed(inner, sign, v[3], weightDecay));
      });
  Value moment =
      update(op, b, m, g, [&](StructuredBuilder &inner, ValueRange v) -> Value {
        return buildMoment(inner, v[1], beta2, v[0], Value());
      });
  return {parameter, moment};
}

static Values lowerLars(LarsOp op, StructuredBuilder &b) {
  Type element = op.getParameter().getType().getElementType();
  double momentum = op.getMomentum().convertToDouble();
  double weightDecay = op.getWeightDecay().convertToDouble();
  Value lr = buildLr(b, element, op.getLr());
  Value buffer =
      update(op, b, op.getState()[0], {op.getParameter(), op.getGradient(), lr},
             [&](StructuredBuilder &inner, ValueRange v) -> Value {
               Value d = buildDecayed(inner, v[1], v[0], weightDecay);
               Value kept = arith::MulFOp::create(
                   inner, inner.constant(element, momentum), v[3]);
               return arith::AddFOp::create(
                   inner, kept, arith::MulFOp::create(inner, v[2], d));
             });
  Value parameter = update(op, b, op.getParameter(), buffer,
                           [](StructuredBuilder &inner, ValueRange v) -> Value {
                             return arith::SubFOp::create(inner, v[1], v[0]);
                           });
  return {parameter, buffer};
}

static Values lowerClipByNorm(ClipByNormOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getClipped().getType();
  Value factor = buildScalar(
      b, type.getElementType(), op.getOperands().drop_front(),
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Type f64 = inner.getF64Type();
        Value one = inner.constant(f64, 1.0);
        Value ratio = arith::DivFOp::create(
            inner, inner.constant(f64, op.getMaxNorm().convertToDouble()),
            arith::AddFOp::create(inner, v[0], inner.constant(f64, 1e-6)));
        Value factor = arith::MinimumFOp::create(inner, one, ratio);
        if (!op.getLossScale())
          return factor;
        factor = arith::DivFOp::create(inner, factor, v[1]);
        // norm - norm is zero if the norm is finite, else NaN.
        Value finite = arith::SubFOp::create(inner, v[0], v[0]);
        return arith::AddFOp::create(inner, factor, finite);
      });
  return {b.map(type, {op.getGradient(), factor},
                [](StructuredBuilder &inner, ValueRange v) -> Value {
                  return arith::MulFOp::create(inner, v[0], v[1]);
                })};
}

static Values lowerAverage(AverageOp op, StructuredBuilder &b) {
  return {b.update(op.getAverage(), op.getParameter(),
                   [&](StructuredBuilder &inner, ValueRange v) -> Value {
                     Value average = buildMoment(
                         inner, v[1], op.getDecay().convertToDouble(), v[0],
                         Value());
                     if (!op->hasAttr(attr::skipNan))
                       return average;
                     // x - x is zero if x is finite, else NaN.
                     Value zero = arith::SubFOp::create(inner, v[0], v[0]);
                     return skipNan(inner, zero, v[1], average);
                   })};
}

static Values lowerKeep(KeepOp op, StructuredBuilder &b) {
  return {b.update(op.getState(), op.getOperands().drop_front(),
                   [&](StructuredBuilder &inner, ValueRange v) -> Value {
                     if (!op.getNorm())
                       return v[0];
                     // norm - norm is zero if the norm is finite, else NaN.
                     Value zero = arith::SubFOp::create(inner, v[1], v[1]);
                     return skipNan(inner, zero, v.back(), v[0]);
                   })};
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
  attachLowering<AdamDirectionOp, lowerAdamDirection>(context);
  attachLowering<RmsPropOp, lowerRmsProp>(context);
  attachLowering<AdagradOp, lowerAdagrad>(context);
  attachLowering<LionOp, lowerLion>(context);
  attachLowering<LarsOp, lowerLars>(context);
  attachLowering<ClipByNormOp, lowerClipByNorm>(context);
  attachLowering<AverageOp, lowerAverage>(context);
  attachLowering<KeepOp, lowerKeep>(context);
  attachLowering<AccumulateOp, lowerAccumulate>(context);
}
