//===- Elementwise.h - roundings of import rules ----------------*- C++ -*-===//
//
// Rounding functions that rules of several families use.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_ELEMENTWISE_H
#define DTC_FRONTEND_OPS_ELEMENTWISE_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// The largest integer that is at most x.
mlir::Value buildFloor(NodeBuilder &node, mlir::Value x);
/// The nearest integer. Halves go to the even neighbor.
mlir::Value buildRound(NodeBuilder &node, mlir::Value x);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_ELEMENTWISE_H
