//===- MatMul.cpp - gradient of matrix multiplication ---------------------===//
//
// For C = op(A) op(B): d op(A) = dC op(B)^T and d op(B) = op(A)^T dC. If op
// transposes, the operands are swapped. Flags of the op transpose, so no data
// moves.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(MatMulOp op, Vjp &d) {
  Value a = op.getLhs(), b = op.getRhs(), g = d.grad();
  bool transposeA = op.getTransposeLhs(), transposeB = op.getTransposeRhs();
  Type da = getGradientType(a), db = getGradientType(b);
  d.set(0, transposeA ? d.create<MatMulOp>(da, b, g, transposeB, true)
                      : d.create<MatMulOp>(da, g, b, false, !transposeB));
  d.set(1, transposeB ? d.create<MatMulOp>(db, g, a, true, transposeA)
                      : d.create<MatMulOp>(db, a, g, !transposeA, false));
}

void attachMatMulGradients(MLIRContext &context) {
  attachGradients<MatMulOp>(context);
}

} // namespace dtc
