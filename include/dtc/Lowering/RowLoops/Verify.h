//===- Verify.h - checks of a kernel's buffers ------------------*- C++ -*-===//
//
// Checks a plan before code is generated from it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_ROWLOOPS_VERIFY_H
#define DTC_LOWERING_ROWLOOPS_VERIFY_H

#include "dtc/Lowering/RowLoops/Plan.h"

namespace dtc {

/// Emits an error unless every argument is read before a result overwrites it.
llvm::LogicalResult verifyUpdates(mlir::func::FuncOp function,
                                  const RowLoopsPlan &plan);

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_VERIFY_H
