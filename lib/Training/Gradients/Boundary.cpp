//===- Boundary.cpp - gradients of ops between pipeline stages ------------===//
//
// A gradient crosses stages in the opposite direction of its value.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(BoundaryOp op, Vjp &d) {
  d.set(0, d.create<BoundaryOp>(d.grad(), op.getTo(), op.getFrom()));
}

static void differentiate(SumOverStagesOp op, Vjp &d) {
  for (unsigned i = 0; i < op.getParts().size(); ++i)
    d.set(i, d.grad());
}

void attachBoundaryGradients(MLIRContext &context) {
  attachGradients<BoundaryOp, SumOverStagesOp>(context);
}

} // namespace dtc
