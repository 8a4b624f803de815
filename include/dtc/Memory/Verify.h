//===- Verify.h - proof of the memory plan ----------------------*- C++ -*-===//
//
// The proof that no buffer is overwritten while somebody needs it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MEMORY_VERIFY_H
#define DTC_MEMORY_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Executes every block of every stage symbolically: each op writes its
/// results' names into the bytes where PlanMemory put them, and what is read
/// must still have its name. Aliases coincide, operands of a collective are
/// adjacent, everything lies inside its frame or arena. What collectives touch
/// is there until they are waited for. Arguments of a plan, or their new values
/// in their place, are there at its end, and what the step keeps at the end of
/// an evaluation. Two values of one frame that both have `dtc.offsets =
/// array<i64: 0>` while the first is still needed are reported with the op that
/// overwrites and the op that reads.
mlir::LogicalResult verifyMemory(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_MEMORY_VERIFY_H
