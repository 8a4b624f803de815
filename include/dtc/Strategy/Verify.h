//===- Verify.h - invariants of the forward pass ----------------*- C++ -*-===//
//
// The invariants that phases after strategy rely on.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_STRATEGY_VERIFY_H
#define DTC_STRATEGY_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Checks the result of the strategy phase: one function `@step` with static
/// shapes and no layouts, whose arguments and results have attributes that
/// describe them, the loss among them. Every value with a stage has only one,
/// which only boundaries change. There are `numStages` stages, if that is not
/// 0. Fails with a diagnostic.
mlir::LogicalResult verifyForward(mlir::ModuleOp module, int64_t numStages);

} // namespace dtc

#endif // DTC_STRATEGY_VERIFY_H
