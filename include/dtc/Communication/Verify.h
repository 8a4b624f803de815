//===- Verify.h - proof of communication ------------------------*- C++ -*-===//
//
// The proof that no rank waits forever.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_COMMUNICATION_VERIFY_H
#define DTC_COMMUNICATION_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Builds event lists from the plans and proves with Communication.h that every
/// rank finishes, in every order in which ranks may run and even if each rank
/// processes its transfers one at a time. A message completes when both ends
/// are first in their ranks' queues, a collective when it is first in the
/// queues of all members. Only waits block.
///
/// Also checks that sizes, types and reductions agree, that no op touches a
/// buffer in flight, that slots are free when they are taken, and that at most
/// `DTC_MAX_MESSAGE_SLOTS` messages are in flight at once.
///
/// Example: stage 0 begins with `dtc.recv from 1 tag 1` and stage 1 with
/// `dtc.recv from 0 tag 0`, each before its send. An error names the first op
/// and a note the second.
mlir::LogicalResult verifyCommunication(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_COMMUNICATION_VERIFY_H
