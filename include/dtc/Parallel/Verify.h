//===- Verify.h - invariant of the parallel phase ---------------*- C++ -*-===//
//
// What the phases after parallel rely on. Every op verifies its own layouts;
// this checks what no single op can see.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PARALLEL_VERIFY_H
#define DTC_PARALLEL_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Checks that a module is what the parallel phase makes: every tensor has a
/// layout over one mesh; no reshard is left; a sum over micro-batches feeds
/// something that runs per micro-batch only if it depends on inputs alone.
/// Fails with a diagnostic.
mlir::LogicalResult verifyParallel(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_PARALLEL_VERIFY_H
