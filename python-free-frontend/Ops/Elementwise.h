//===- Elementwise.h - roundings of import rules ----------------*- C++ -*-===//
//
// The roundings that rules of several families build.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_ELEMENTWISE_H
#define DTC_FRONTEND_OPS_ELEMENTWISE_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// The largest integer that is not larger.
mlir::Value buildFloor(NodeBuilder &node, mlir::Value x);
/// The nearest integer; of two, the even one.
mlir::Value buildRound(NodeBuilder &node, mlir::Value x);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_ELEMENTWISE_H
