//===- RowLoopsEmit.h - loops over rows and columns -------------*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CPU_ROWLOOPSEMIT_H
#define DTC_LIB_TARGET_CPU_ROWLOOPSEMIT_H

#include "dtc/Lowering/RowLoops/KernelArguments.h"

namespace dtc {

/// Emits the loops of a plan at the builder's position. A nest that costs at
/// least `leastWork` becomes an `scf.parallel` over its parts. The scratch that
/// nests need is added to `layout`.
void emitRowLoops(mlir::OpBuilder &builder, mlir::Location loc,
                  const RowLoopsPlan &plan, const KernelArguments &arguments,
                  ScratchLayout &layout, unsigned lanes, int64_t leastWork);

} // namespace dtc

#endif // DTC_LIB_TARGET_CPU_ROWLOOPSEMIT_H
