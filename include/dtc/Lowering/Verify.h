//===- Verify.h - proof of lowered communication ----------------*- C++ -*-===//
//
// Proves that the communication of a lowered program matches.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_VERIFY_H
#define DTC_LOWERING_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Runs the proof of `verifyCommunication` on a lowered module. Events are
/// calls of the runtime with constant arguments, also within stage functions.
/// Ranks and groups come from the manifest, and buffers are bytes of the arena.
/// Emits an error on a call with an unknown function or an argument that is not
/// constant. If `dtcrt_all_reduce` has one group in `@stage0_plan` and another
/// in `@stage1_plan`, the error names the call that has no counterpart, and a
/// note names the other call.
mlir::LogicalResult verifyLoweredCommunication(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_LOWERING_VERIFY_H
