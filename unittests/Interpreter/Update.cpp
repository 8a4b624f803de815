//===- Update.cpp - rules of optimizers -----------------------------------===//

#include "Rules.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

static Tensors evaluateSgd(SgdOp op, Operands x) {
  Tensors y = {x[0]};
  double momentum = op.getMomentum().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  if (x.size() > 3)
    y.push_back(x[3]);
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double d = x[1].data[i] + decay * x[0].data[i];
    if (x.size() > 3) {
      double buffer = momentum * x[3].data[i] + d;
      y[1].data[i] = buffer;
      d = op.getNesterov() ? d + momentum * buffer : buffer;
    }
    y[0].data[i] -= x[2].data[0] * d;
  }
  return y;
}

static Tensors evaluateAdam(AdamOp op, Operands x) {
  Tensors y = {x[0], x[4], x[5]};
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  double lr = x[2].data[0], step = x[3].data[0];
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double p = x[0].data[i], g = x[1].data[i];
    if (op.getDecoupled())
      p *= 1 - lr * decay;
    else
      g += decay * p;
    double m = y[1].data[i] = beta1 * y[1].data[i] + (1 - beta1) * g;
    double v = y[2].data[i] = beta2 * y[2].data[i] + (1 - beta2) * g * g;
    double root = std::sqrt(v / (1 - std::pow(beta2, step)));
    y[0].data[i] = p - lr / (1 - std::pow(beta1, step)) * m /
                           (root + op.getEpsilon().convertToDouble());
  }
  return y;
}

static double average(double keep, double old, double fresh) {
  return keep * old + (1 - keep) * fresh;
}

static Tensors evaluateAdamDirection(AdamDirectionOp op, Operands x) {
  Tensors y = {x[0], x[3], x[4]};
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble(), step = x[2].data[0];
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double g = x[1].data[i];
    double m = y[1].data[i] = average(beta1, x[3].data[i], g);
    double v = y[2].data[i] = average(beta2, x[4].data[i], g * g);
    double root = std::sqrt(v / (1 - std::pow(beta2, step)));
    y[0].data[i] = m / (1 - std::pow(beta1, step)) /
                       (root + op.getEpsilon().convertToDouble()) +
                   decay * x[0].data[i];
  }
  return y;
}

static Tensors evaluateRmsProp(RmsPropOp op, Operands x) {
  Tensors y = {x[0]};
  y.insert(y.end(), x.begin() + 3, x.end());
  double momentum = op.getMomentum().convertToDouble();
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double g =
        x[1].data[i] + op.getWeightDecay().convertToDouble() * x[0].data[i];
    double v = y[1].data[i] =
        average(op.getAlpha().convertToDouble(), x[3].data[i], g * g);
    double d = g / (std::sqrt(v) + op.getEpsilon().convertToDouble());
    if (x.size() > 4)
      d = y[2].data[i] = momentum * x[4].data[i] + d;
    y[0].data[i] -= x[2].data[0] * d;
  }
  return y;
}

static Tensors evaluateAdagrad(AdagradOp op, Operands x) {
  Tensors y = {x[0], x[3]};
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double g =
        x[1].data[i] + op.getWeightDecay().convertToDouble() * x[0].data[i];
    y[1].data[i] += g * g;
    y[0].data[i] -=
        x[2].data[0] * g /
        (std::sqrt(y[1].data[i]) + op.getEpsilon().convertToDouble());
  }
  return y;
}

static Tensors evaluateLion(LionOp op, Operands x) {
  Tensors y = {x[0], x[3]};
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double p = x[0].data[i], g = x[1].data[i], m = x[3].data[i];
    double mixed = average(op.getBeta1().convertToDouble(), m, g);
    double sign = mixed > 0 ? 1 : mixed < 0 ? -1 : 0;
    y[0].data[i] =
        p - x[2].data[0] * (sign + op.getWeightDecay().convertToDouble() * p);
    y[1].data[i] = average(op.getBeta2().convertToDouble(), m, g);
  }
  return y;
}

static Tensors evaluateLars(LarsOp op, Operands x) {
  Tensors y = {x[0], x[3]};
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double d =
        x[1].data[i] + op.getWeightDecay().convertToDouble() * x[0].data[i];
    y[1].data[i] =
        op.getMomentum().convertToDouble() * x[3].data[i] + x[2].data[0] * d;
    y[0].data[i] -= y[1].data[i];
  }
  return y;
}

static Tensors evaluateClipByNorm(ClipByNormOp op, Operands x) {
  Tensors y = {x[0]};
  double ratio = op.getMaxNorm().convertToDouble() / (x[1].data[0] + 1e-6);
  for (double &g : y[0].data)
    g *= std::min(1.0, ratio);
  return y;
}

static Tensors evaluateAverage(AverageOp op, Operands x) {
  Tensors y = {x[0]};
  for (size_t i = 0; i < x[0].data.size(); ++i)
    y[0].data[i] =
        average(op.getDecay().convertToDouble(), x[0].data[i], x[1].data[i]);
  return y;
}

void dtc::addUpdateRules(Rules &rules) {
  rules.add(evaluateSgd);
  rules.add(evaluateAdam);
  rules.add(evaluateAdamDirection);
  rules.add(evaluateRmsProp);
  rules.add(evaluateAdagrad);
  rules.add(evaluateLion);
  rules.add(evaluateLars);
  rules.add(evaluateClipByNorm);
  rules.add(evaluateAverage);
}
