//===- Activation.h - activation functions of import rules ------*- C++ -*-===//
//
// The functions of which recurrent layers have their choice, too. Every one
// keeps the shape and the type of its operand, floats.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_ACTIVATION_H
#define DTC_FRONTEND_OPS_ACTIVATION_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// x where it is positive, else alpha x.
mlir::Value buildLeakyRelu(NodeBuilder &node, mlir::Value x, double alpha);
/// x where it is positive, else alpha (exp(x) - 1).
mlir::Value buildElu(NodeBuilder &node, mlir::Value x, double alpha);
/// alpha x + beta from 0 to 1, flat beyond. Where it bends, its gradient is
/// that of the flat parts.
mlir::Value buildHardSigmoid(NodeBuilder &node, mlir::Value x, double alpha,
                             double beta);
/// x where it is larger than alpha, else 0.
mlir::Value buildThresholdedRelu(NodeBuilder &node, mlir::Value x,
                                 double alpha);
/// log(1 + exp(x)).
mlir::Value buildSoftplus(NodeBuilder &node, mlir::Value x);
/// x / (1 + |x|).
mlir::Value buildSoftsign(NodeBuilder &node, mlir::Value x);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_ACTIVATION_H
