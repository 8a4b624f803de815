//===- PlanCommunication.h - event lists of plans ---------------*- C++ -*-===//
//
// From IR to the plain data of Communication.h.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_COMMUNICATION_PLANCOMMUNICATION_H
#define DTC_COMMUNICATION_PLANCOMMUNICATION_H

#include "dtc/Communication/Communication.h"
#include "dtc/Plan/Skeleton.h"

namespace dtc {

/// Event lists and where they come from.
struct PlanCommunication {
  CommunicationSystem system;
  /// Ops, by Event::source.
  std::vector<mlir::Operation *> sources;
};

/// Begins an error on an op.
using EmitError =
    llvm::function_ref<mlir::InFlightDiagnostic(mlir::Operation *)>;

/// Fails, with an error on one culprit and notes on the others, unless the
/// ranks can neither hang nor mix up what they exchange.
mlir::LogicalResult verify(const PlanCommunication &communication,
                           mlir::ModuleOp module, EmitError emitError);

/// Events of the plans of all stages, those of what they run included. Buffers
/// are those of SSA values, not of memory: that is verifyMemory's subject. No
/// ranks if nothing is distributed. Fails if a plan has no body or the mesh
/// has another number of stages.
mlir::FailureOr<PlanCommunication> getPlanCommunication(mlir::ModuleOp module,
                                                        const Stages &stages);

} // namespace dtc

#endif // DTC_COMMUNICATION_PLANCOMMUNICATION_H
