//===- Verify.h - invariants of a step without layouts ----------*- C++ -*-===//
//
// The invariants that the phases after training rely on.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_VERIFY_H
#define DTC_TRAINING_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Checks that a module is a valid result of the training phase: the invariants
/// of `verifyForward`, and a gradient and an update for every parameter that is
/// not frozen. Fails with a diagnostic.
mlir::LogicalResult verifyTraining(mlir::ModuleOp module, int64_t numStages);

} // namespace dtc

#endif // DTC_TRAINING_VERIFY_H
