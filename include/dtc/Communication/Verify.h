//===- Verify.h - proof of communication ------------------------*- C++ -*-===//
//
// The proof that no rank waits for what never comes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_COMMUNICATION_VERIFY_H
#define DTC_COMMUNICATION_VERIFY_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Makes event lists of the plans and proves (Communication.h) that in every
/// order in which ranks may run each comes to its end, even if each does what
/// it has issued one by one: a message is done when both ends are first in
/// their ranks' queues, a collective when it is first in those of all members,
/// and only waits block. Sizes, types and reductions agree, nothing touches a
/// buffer that is in flight, slots are free when they are taken, and only so
/// many messages are in flight at once (`DTC_MAX_MESSAGE_SLOTS`). If stage 0
/// begins with `dtc.recv from 1 tag 1` and stage 1 with `dtc.recv from 0 tag
/// 0`, each before its send, an error names the first and a note the second.
mlir::LogicalResult verifyCommunication(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_COMMUNICATION_VERIFY_H
