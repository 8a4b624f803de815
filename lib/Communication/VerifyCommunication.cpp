//===- VerifyCommunication.cpp - check that all messages meet -------------===//
//
// Builds event lists from plans and proves them with Communication.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Communication/PlanCommunication.h"
#include "dtc/Communication/Verify.h"
#include "dtc/Runtime/ABI.h"

using namespace mlir;
using namespace dtc;

/// Checks that messages in flight fit in the runtime's message slots.
static LogicalResult checkSlots(func::FuncOp plan,
                                const CommunicationProgram &program,
                                int64_t microbatches) {
  int64_t needed = 0;
  for (const Event &event : program.events)
    if (event.kind == EventKind::Send || event.kind == EventKind::Recv)
      needed = std::max<int64_t>(needed, event.slot + 1);
  if (needed <= DTC_MAX_MESSAGE_SLOTS)
    return success();
  InFlightDiagnostic error = plan.emitError("has ")
                             << needed << " messages in flight at once with "
                             << microbatches << " micro-batches, expected at "
                             << "most " << DTC_MAX_MESSAGE_SLOTS;
  // Slots grow with the number of micro-batches. A divisor of it divides the
  // batch, too.
  int64_t fewer = microbatches * DTC_MAX_MESSAGE_SLOTS / needed;
  while (fewer > 1 && microbatches % fewer)
    --fewer;
  if (fewer >= 1)
    error << "; --microbatches " << fewer << " would do";
  return failure();
}

static LogicalResult verifyProgram(ModuleOp module, const Stages &stages) {
  FailureOr<PlanCommunication> communication =
      getPlanCommunication(module, stages);
  if (failed(communication))
    return failure();
  const CommunicationSystem &system = communication->system;
  for (auto [stage, program] : llvm::zip(stages, system.programs)) {
    func::FuncOp plan = getPlan(stage);
    // Micro-batches of one round: messages of two rounds do not add up.
    int64_t microbatches =
        getMesh(plan)
            ? getMesh(plan).getSize(MeshAttr::timeAxis) / getRounds(plan)
            : 1;
    if (failed(checkSlots(plan, program, microbatches)))
      return failure();
  }
  return dtc::verify(*communication, module,
                     [](Operation *op) { return op->emitOpError(); });
}

LogicalResult dtc::verifyCommunication(ModuleOp module) {
  FailureOr<SmallVector<Stages>> programs = getPrograms(module);
  if (failed(programs))
    return failure();
  for (const Stages &stages : *programs)
    if (failed(verifyProgram(module, stages)))
      return failure();
  return success();
}
