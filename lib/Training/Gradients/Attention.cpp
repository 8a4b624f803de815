//===- Attention.cpp - gradient of attention ------------------------------===//
//
// The gradient is one op, which recomputes the scores from the saved lse of
// each row.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(AttentionOp op, Vjp &d) {
  Value g = d.grad(0);
  if (!g) // no trained value uses lse
    return;
  auto gradient = d.create<AttentionGradOp>(
      op.getQueries(), op.getKeys(), op.getValues(), op.getMask(),
      op.getResult(), op.getLse(),
      d.cast(g, getElementTypeOrSelf(op.getResult())), op.getScaleAttr(),
      op.getCausalAttr(), op.getDividedAttr());
  d.set(0, gradient.getDqueries());
  d.set(1, gradient.getDkeys());
  d.set(2, gradient.getDvalues());
}

void attachAttentionGradients(MLIRContext &context) {
  attachGradients<AttentionOp>(context);
}

} // namespace dtc
