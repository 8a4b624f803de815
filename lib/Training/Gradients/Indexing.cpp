//===- Indexing.cpp - gradients of lookups --------------------------------===//
//
// A gather and a scatter_add are each other's transpose.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(GatherOp op, Vjp &d) {
  d.set(0, d.create<ScatterAddOp>(op.getTable().getType(), op.getIndices(),
                                  d.grad(), op.getStarts(), op.getBatchDims()));
}

static void differentiate(ScatterAddOp op, Vjp &d) {
  d.set(1, d.create<GatherOp>(d.grad(), op.getIndices(), op.getStarts(),
                              op.getBatchDims()));
}

void attachIndexingGradients(MLIRContext &context) {
  attachGradients<GatherOp, ScatterAddOp>(context);
}

} // namespace dtc
