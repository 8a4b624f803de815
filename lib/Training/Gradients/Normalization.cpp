//===- Normalization.cpp - gradients of softmax and layer norm ------------===//
//
// Rules consist of elementwise ops and sums over the last dimension, which
// become one kernel.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

/// (g - sum(g y)) y
static void differentiate(SoftmaxOp op, Vjp &d) {
  Value y = op.getY(), g = d.grad();
  d.set(0, d.mul(d.sub(g, d.sumLastDim(d.mul(g, y))), y));
}

/// g - exp(y) sum(g)
static void differentiate(LogSoftmaxOp op, Vjp &d) {
  Value g = d.grad();
  Value probabilities = d.create<ExpOp>(op.getY());
  d.set(0, d.sub(g, d.mul(probabilities, d.sumLastDim(g))));
}

/// With z = (x - mean) rstd and h the gradient of z, n elements in a row:
/// dx = rstd (h - sum(h) / n - z sum(h z) / n); the mean contributes
/// dmean / n and rstd contributes -drstd rstd^2 z / n.
static void differentiate(LayerNormOp op, Vjp &d) {
  Value rstd = op.getRstd();
  Value z = d.mul(d.sub(op.getX(), op.getMean()), rstd);
  double inverse = 1.0 / op.getX().getType().getShape().back();
  SmallVector<Value, 3> terms;
  if (Value g = d.grad(0)) {
    Value h = d.mul(g, op.getScale());
    Value mean = d.scale(d.sumLastDim(h), inverse);
    Value slope = d.scale(d.sumLastDim(d.mul(h, z)), inverse);
    terms.push_back(d.mul(rstd, d.sub(d.sub(h, mean), d.mul(z, slope))));
    d.set(1, d.mul(g, z));
    d.set(2, g);
  }
  if (Value g = d.grad(1))
    terms.push_back(d.broadcast(d.scale(g, inverse), op.getX().getType()));
  if (Value g = d.grad(2))
    terms.push_back(d.mul(z, d.scale(d.mul(g, d.mul(rstd, rstd)), -inverse)));
  Value dx = terms.front();
  for (Value term : llvm::drop_begin(terms))
    dx = d.add(dx, term);
  d.set(0, dx);
}

void attachNormalizationGradients(MLIRContext &context) {
  attachGradients<SoftmaxOp, LogSoftmaxOp, LayerNormOp>(context);
}

} // namespace dtc
