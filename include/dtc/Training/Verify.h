//===- Verify.h - invariants of a step without layouts ----------*- C++ -*-===//
//
// What the phases after strategy and training rely on.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_VERIFY_H
#define DTC_TRAINING_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Checks that a module is what the strategy phase makes: one function `@step`
/// with static shapes and no layouts, whose arguments and results say what they
/// are, the loss among them, and stages as `verifyTraining` has them. Fails
/// with a diagnostic.
mlir::LogicalResult verifyForward(mlir::ModuleOp module, int64_t numStages);

/// Checks that a module is what the training phase makes: one function `@step`
/// with static shapes and no layouts, whose arguments and results say what they
/// are; a gradient and an update for every parameter that is not frozen; one
/// stage for every value that has one, changed only by boundaries, and
/// `numStages` in all, if that is not 0. Fails with a diagnostic.
mlir::LogicalResult verifyTraining(mlir::ModuleOp module, int64_t numStages);

} // namespace dtc

#endif // DTC_TRAINING_VERIFY_H
