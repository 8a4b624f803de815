//===- LibraryCall.h - ops that libraries compute ---------------*- C++ -*-===//
//
// The interface that LowerPlan asks, and the registration of its models.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_LIBRARYCALL_H
#define DTC_LOWERING_LIBRARYCALL_H

#include "dtc/Lowering/Target.h"
#include "mlir/IR/OpDefinition.h"

namespace dtc {
class FunctionLowering;
} // namespace dtc

#include "dtc/Lowering/LibraryCall.h.inc"

namespace dtc {

/// Attaches the call of every dtc op that a library computes.
void registerLibraryCallModels(mlir::DialectRegistry &registry);

} // namespace dtc

#endif // DTC_LOWERING_LIBRARYCALL_H
