//===- Verify.h - proof of the memory plan ----------------------*- C++ -*-===//
//
// The proof that no op overwrites a buffer that is still needed.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MEMORY_VERIFY_H
#define DTC_MEMORY_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Executes every block of every stage symbolically. Each op writes the names
/// of its results into the bytes of their planned offsets, and each read must
/// find the name of the value. Fails with an error if it does not.
///
/// Also checks that aliases coincide, that operands of a collective are
/// adjacent, that every value lies inside its frame or arena, and that buffers
/// in flight stay intact until their wait. At the end of a plan, its arguments
/// or their new values must be in place; at the end of an evaluation, so must
/// all that the step keeps.
///
/// Example: two values of one frame have `dtc.offsets = array<i64: 0>`, and the
/// first is still needed. The error names the op that overwrites and the op
/// that reads.
mlir::LogicalResult verifyMemory(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_MEMORY_VERIFY_H
