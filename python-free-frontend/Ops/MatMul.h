//===- MatMul.h - matrix products of import rules ---------------*- C++ -*-===//
//
// The matrix product that rules of several families use.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_MATMUL_H
#define DTC_FRONTEND_OPS_MATMUL_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// op(a) op(b), where op transposes if its flag is set. The leading dimensions
/// of both operands are equal.
mlir::Value buildProduct(NodeBuilder &node, mlir::Value a, bool transposeA,
                         mlir::Value b, bool transposeB);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_MATMUL_H
