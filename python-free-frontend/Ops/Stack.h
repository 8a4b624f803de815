//===- Stack.h - parts that are computed alike ------------------*- C++ -*-===//
//
// The rounds of a loop over the samples of a batch, or over bags of rows, do
// the same with one part of a tensor each. Done once with all parts, samples
// stay apart in a dimension of their own, which can be divided.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_STACK_H
#define DTC_FRONTEND_OPS_STACK_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// The parts one after another along `axis`, by one computation, if each is
/// computed in the same way from its elements of dimension 0 of a tensor, which
/// the parts divide evenly; else null.
mlir::Value joinRounds(NodeBuilder &node, llvm::ArrayRef<mlir::Value> parts,
                       int64_t axis);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_STACK_H
