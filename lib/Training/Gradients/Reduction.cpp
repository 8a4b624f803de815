//===- Reduction.cpp - gradients of reductions ----------------------------===//
//
// Reduced dimensions stay with size 1, so gradients can broadcast back.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(ReduceSumOp op, Vjp &d) {
  d.set(0, d.broadcast(d.grad(), op.getX().getType()));
}

/// Elements that equal the maximum share its gradient, as in torch.amax.
static void differentiate(ReduceMaxOp op, Vjp &d) {
  Value x = op.getX();
  Value isMax = d.mask(Comparison::eq, x, op.getY(), d.constant(x, 1));
  Value count = d.sum(isMax, op.getAxes());
  // Recomputed elements may be rounded differently, and then none would equal
  // the maximum.
  if (isFloat16(x.getType())) {
    Value one = d.constant(count, 1);
    count =
        d.add(count, d.mask(Comparison::eq, count, d.constant(count, 0), one));
  }
  d.set(0, d.mul(isMax, d.div(d.grad(), count)));
}

void attachReductionGradients(MLIRContext &context) {
  attachGradients<ReduceSumOp, ReduceMaxOp>(context);
}

} // namespace dtc
