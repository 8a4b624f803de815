//===- MatMul.h - matrix products of import rules ---------------*- C++ -*-===//
//
// The product that rules of several families build.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_MATMUL_H
#define DTC_FRONTEND_OPS_MATMUL_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// op(a) op(b) of operands with equal leading dimensions.
mlir::Value buildProduct(NodeBuilder &node, mlir::Value a, bool transposeA,
                         mlir::Value b, bool transposeB);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_MATMUL_H
