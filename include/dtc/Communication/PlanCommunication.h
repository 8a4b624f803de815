//===- PlanCommunication.h - event lists of plans ---------------*- C++ -*-===//
//
// Converts plans in IR to the plain data of Communication.h.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_COMMUNICATION_PLANCOMMUNICATION_H
#define DTC_COMMUNICATION_PLANCOMMUNICATION_H

#include "dtc/Communication/Communication.h"
#include "dtc/Plan/Skeleton.h"

namespace dtc {

/// Event lists, and the ops that they come from.
struct PlanCommunication {
  CommunicationSystem system;
  /// Ops, indexed by Event::source.
  std::vector<mlir::Operation *> sources;
};

/// Starts an error on an op.
using EmitError =
    llvm::function_ref<mlir::InFlightDiagnostic(mlir::Operation *)>;

/// Fails if ranks hang or mix up the data that they exchange, with an error on
/// one op and notes on the others.
mlir::LogicalResult verify(const PlanCommunication &communication,
                           mlir::ModuleOp module, EmitError emitError);

/// Returns the events of all stages' plans, including the functions that plans
/// run. A buffer stands for an SSA value, not for memory, which verifyMemory
/// checks. The result has no ranks if nothing is distributed. Fails if a plan
/// has no body or if the number of stages differs from the mesh's.
mlir::FailureOr<PlanCommunication> getPlanCommunication(mlir::ModuleOp module,
                                                        const Stages &stages);

} // namespace dtc

#endif // DTC_COMMUNICATION_PLANCOMMUNICATION_H
