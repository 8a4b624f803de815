//===- Verify.h - invariants of the forward pass ----------------*- C++ -*-===//
//
// What the phases after strategy rely on.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_STRATEGY_VERIFY_H
#define DTC_STRATEGY_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Checks that a module is what the strategy phase makes: one function `@step`
/// with static shapes and no layouts, whose arguments and results say what they
/// are, the loss among them; one stage for every value that has one, changed
/// only by boundaries, and `numStages` in all, if that is not 0. Fails with a
/// diagnostic.
mlir::LogicalResult verifyForward(mlir::ModuleOp module, int64_t numStages);

} // namespace dtc

#endif // DTC_STRATEGY_VERIFY_H
