//===- Experts.cpp - gradient of grouped products -------------------------===//
//
// The gradient of the rows is the product with the same matrices, transposed;
// that of the matrices is a sum over the rows of each. Dispatch and combine are
// transposes of each other.
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

static void differentiate(ExpertMatMulOp op, Vjp &d) {
  Value slots = op.getSlots(), counts = op.getCounts(), g = d.grad();
  bool isTransposed = op.getTransposeWeights();
  d.set(0, d.create<ExpertMatMulOp>(getGradientType(slots), g, op.getWeights(),
                                    counts, !isTransposed, op.getGroupRows()));
  d.set(1, d.create<ExpertOuterOp>(
               getGradientType(op.getWeights()), isTransposed ? g : slots,
               isTransposed ? slots : g, counts, op.getGroupRows()));
}

static void differentiate(DispatchOp op, Vjp &d) {
  d.set(0, d.create<CombineOp>(getGradientType(op.getRows()), d.grad(),
                               op.getIndices(), op.getAxis()));
}

static void differentiate(CombineOp op, Vjp &d) {
  d.set(0, d.create<DispatchOp>(getGradientType(op.getSlots()), d.grad(),
                                op.getIndices(), op.getAxis()));
}

void attachExpertGradients(MLIRContext &context) {
  attachGradients<GroupedMatMulOp, ExpertMatMulOp, DispatchOp, CombineOp>(
      context);
}

} // namespace dtc
