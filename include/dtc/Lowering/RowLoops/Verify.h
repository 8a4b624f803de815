//===- Verify.h - one writer's buffer is never another's --------*- C++ -*-===//
//
// Checks a plan before code is made of it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_ROWLOOPS_VERIFY_H
#define DTC_LOWERING_ROWLOOPS_VERIFY_H

#include "dtc/Lowering/RowLoops/Plan.h"

namespace dtc {

/// Emits an error unless arguments are read before results overwrite them.
llvm::LogicalResult verifyUpdates(mlir::func::FuncOp function,
                                  const RowLoopsPlan &plan);

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_VERIFY_H
