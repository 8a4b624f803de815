//===- LibraryCall.h - ops that libraries compute ---------------*- C++ -*-===//
//
// The interface with which LowerPlan calls libraries, and the registration of
// its models.
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

/// Attaches a library call to every dtc op that a library computes.
void registerLibraryCallModels(mlir::DialectRegistry &registry);

} // namespace dtc

#endif // DTC_LOWERING_LIBRARYCALL_H
