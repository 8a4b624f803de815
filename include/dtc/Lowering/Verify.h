//===- Verify.h - proof of lowered communication ----------------*- C++ -*-===//
//
// The proof of communication, of what a program embeds.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_VERIFY_H
#define DTC_LOWERING_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// The proof of `verifyCommunication`, on a lowered module: events are the
/// calls of the runtime with their constant arguments, those of stage functions
/// included; ranks and groups are what the runtime makes of the manifest;
/// buffers are bytes of the arena. A call whose meaning or numbers are not
/// known is an error. If `dtcrt_all_reduce` has one group in `@stage0_plan` and
/// another in `@stage1_plan`, an error names the call that is never met, a note
/// the other.
mlir::LogicalResult verifyLoweredCommunication(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_LOWERING_VERIFY_H
