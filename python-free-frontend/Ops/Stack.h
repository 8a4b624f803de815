//===- Stack.h - one computation for all iterations -------------*- C++ -*-===//
//
// The iterations of a loop over samples, or over bags of rows, apply the same
// computation to one part of a tensor each. This file applies it once to all
// parts. So samples stay in a dimension of their own, which data parallelism
// can divide.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_STACK_H
#define DTC_FRONTEND_OPS_STACK_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// Concatenates `parts` along `axis` by one computation. All parts must be
/// computed in the same way from equal parts of dimension 0 of a tensor. Null
/// if they are not.
mlir::Value joinRounds(NodeBuilder &node, llvm::ArrayRef<mlir::Value> parts,
                       int64_t axis);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_STACK_H
