//===- Experts.cpp - gradient of grouped products -------------------------===//
//
// The gradient of the rows is the product with the same matrices, transposed;
// that of the matrices is a sum over the rows of each.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(GroupedMatMulOp op, Vjp &d) {
  Value rows = op.getRows(), indices = op.getIndices(), g = d.grad();
  bool isTransposed = op.getTransposeWeights();
  d.set(0, d.create<GroupedMatMulOp>(getGradientType(rows), g, op.getWeights(),
                                     indices, !isTransposed));
  d.set(1, d.create<GroupedOuterOp>(getGradientType(op.getWeights()),
                                    isTransposed ? g : rows,
                                    isTransposed ? rows : g, indices));
}

void attachExpertGradients(MLIRContext &context) {
  attachGradients<GroupedMatMulOp>(context);
}

} // namespace dtc
