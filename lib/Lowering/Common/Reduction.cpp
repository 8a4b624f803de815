//===- Reduction.cpp - lowering of reductions -----------------------------===//
//
// Sums and maxima over any dimensions.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

template <typename OpType, Combiner combiner>
static SmallVector<Value> lowerReduce(OpType op, StructuredBuilder &b) {
  ArrayRef<int64_t> domain = op.getX().getType().getShape();
  return {b.reduce(op.getY().getType(), combiner, domain, op.getAxes(),
                   op.getX(),
                   [](StructuredBuilder &, ValueRange x) { return x[0]; })};
}

void dtc::registerReductionLowerings(MLIRContext *context) {
  attachLowering<ReduceSumOp, lowerReduce<ReduceSumOp, Combiner::Sum>>(context);
  attachLowering<ReduceMaxOp, lowerReduce<ReduceMaxOp, Combiner::Max>>(context);
}
