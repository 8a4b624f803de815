//===- Verify.h - invariant of the parallel phase ---------------*- C++ -*-===//
//
// The invariant that later phases rely on. Every op verifies its own layouts;
// this check covers properties that span several ops.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PARALLEL_VERIFY_H
#define DTC_PARALLEL_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Checks the result of the parallel phase: every tensor has a layout over one
/// mesh, no reshard remains, and an op that runs per micro-batch uses a sum
/// over micro-batches only if that depends on inputs alone. Fails with a
/// diagnostic.
mlir::LogicalResult verifyParallel(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_PARALLEL_VERIFY_H
