//===- Activation.h - activation functions of import rules ------*- C++ -*-===//
//
// The activation functions that recurrent layers can choose, too. Each function
// takes floats, and keeps the shape and the type of its operand.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_ACTIVATION_H
#define DTC_FRONTEND_OPS_ACTIVATION_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// x where x is positive, else alpha x.
mlir::Value buildLeakyRelu(NodeBuilder &node, mlir::Value x, double alpha);
/// x where x is positive, else alpha (exp(x) - 1).
mlir::Value buildElu(NodeBuilder &node, mlir::Value x, double alpha);
/// alpha x + beta, clamped to [0, 1]. At the two kinks the gradient is 0.
mlir::Value buildHardSigmoid(NodeBuilder &node, mlir::Value x, double alpha,
                             double beta);
/// x where x is larger than alpha, else 0.
mlir::Value buildThresholdedRelu(NodeBuilder &node, mlir::Value x,
                                 double alpha);
/// log(1 + exp(x)).
mlir::Value buildSoftplus(NodeBuilder &node, mlir::Value x);
/// x / (1 + |x|).
mlir::Value buildSoftsign(NodeBuilder &node, mlir::Value x);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_ACTIVATION_H
