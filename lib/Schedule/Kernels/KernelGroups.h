//===- KernelGroups.h - group the ops of a block into kernels ---*- C++ -*-===//
//
// Decides groups without changing the block. Only viewParts replaces ops.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_KERNELS_KERNELGROUPS_H
#define DTC_LIB_SCHEDULE_KERNELS_KERNELGROUPS_H

#include "dtc/Plan/Aliases.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace dtc {

/// Ops that run as one: a kernel, or a single op that is no kernel.
struct KernelUnit {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  bool isKernel = false;
};

/// Returns the ops of a block, except for its terminator, as units in a valid
/// order of execution. Constants that only kernels use are in no unit. Poolings
/// are kernels only if `poolings` is set.
std::vector<KernelUnit> groupKernels(mlir::Block &block, bool poolings);

/// Replaces slices and splits that would be kernels by themselves with views of
/// their operand, if their parts are contiguous and the operand is not
/// overwritten. The views are units that are no kernels. `classes` are those of
/// the block before the change.
std::vector<KernelUnit> viewParts(std::vector<KernelUnit> units,
                                  const AliasClasses &classes);

/// Merges adjacent kernels that do not depend on each other. `classes` are
/// those of the block.
std::vector<KernelUnit> joinKernels(std::vector<KernelUnit> units,
                                    const AliasClasses &classes);

/// Operands that results of the op overwrite.
llvm::SmallVector<mlir::Value> getOverwritten(mlir::Operation *op);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_KERNELS_KERNELGROUPS_H
