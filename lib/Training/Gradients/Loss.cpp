//===- Loss.cpp - gradients of sums in double precision -------------------===//
//
// The gradient of a loss is an f64 scalar. The gradients of its operands have
// the model's type.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(CrossEntropyOp op, Vjp &d) {
  d.set(0, d.create<CrossEntropyGradOp>(
               op.getLogits().getType(), op.getLogits(), op.getLabels(),
               d.grad(), op.getIgnoreIndexAttr(), op.getClassesAttr()));
}

/// 2 (p - t)
static void differentiate(SquaredErrorOp op, Vjp &d) {
  Value p = op.getPrediction();
  Value factor = d.cast(d.scale(d.grad(), 2), getElementTypeOrSelf(p));
  Value gradient = d.mul(d.sub(p, op.getTarget()), factor);
  d.set(0, gradient);
  d.set(1, d.neg(gradient));
}

/// 2 x
static void differentiate(SumSquaresOp op, Vjp &d) {
  Value x = op.getX();
  d.set(0, d.mul(x, d.cast(d.scale(d.grad(), 2), getElementTypeOrSelf(x))));
}

void attachLossGradients(MLIRContext &context) {
  attachGradients<CrossEntropyOp, SquaredErrorOp, SumSquaresOp>(context);
}

} // namespace dtc
