//===- RowLoopsEmit.h - loops over rows and columns -------------*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CPU_ROWLOOPSEMIT_H
#define DTC_LIB_TARGET_CPU_ROWLOOPSEMIT_H

#include "dtc/Lowering/RowLoops.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// Emits the loops of a plan at the builder's position. `allocate` gives a
/// memref of scratch memory.
void emitRowLoops(
    mlir::OpBuilder &builder, mlir::Location loc, const RowLoopsPlan &plan,
    const KernelBuffers &buffers, unsigned lanes,
    llvm::function_ref<mlir::Value(mlir::Type, int64_t)> allocate);

} // namespace dtc

#endif // DTC_LIB_TARGET_CPU_ROWLOOPSEMIT_H
