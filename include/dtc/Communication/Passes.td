//===- Passes.td - passes of communication -----------------*- tablegen -*-===//

#ifndef DTC_COMMUNICATION_PASSES_TD
#define DTC_COMMUNICATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyCommunication : Pass<"dtc-verify-communication", "mlir::ModuleOp"> {
  let summary = "check that all sends, receives and collectives meet";
  let description = [{
    Makes event lists of the plans and proves (`Communication.h`) that in every
    order in which ranks may run each comes to its end: sends do not block but
    are under way until they are received, receives and waits block, a
    collective is done when all its members have started it, in the order of
    its communicator. Sizes, types and reductions agree, nothing touches a
    buffer that is under way, slots are free when they are taken, and only so
    many sends are under way at once (`DTC_MAX_SEND_SLOTS`). Errors name the ops
    and ranks on both sides. Changes nothing.

    Example: stage 0 begins with `dtc.recv from 1 tag 1` and stage 1 with
    `dtc.recv from 0 tag 0`, each before its send: an error names the first and
    a note the second.
  }];
}

#endif // DTC_COMMUNICATION_PASSES_TD
