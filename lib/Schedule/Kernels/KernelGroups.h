//===- KernelGroups.h - which ops of a block form kernels -------*- C++ -*-===//
//
// Groups are decided without a change of the block; views of parts replace ops.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_KERNELS_KERNELGROUPS_H
#define DTC_LIB_SCHEDULE_KERNELS_KERNELGROUPS_H

#include "dtc/Plan/Aliases.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace dtc {

/// Ops that are executed as one: a kernel, or a single op that is none.
struct KernelUnit {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  bool isKernel = false;
};

/// The ops of a block, terminator excluded, as units in an order in which they
/// can be executed. Constants that only kernels use are in none. Poolings are
/// kernels only if it is asked.
std::vector<KernelUnit> groupKernels(mlir::Block &block, bool poolings);

/// Replaces slices and splits that would be kernels by themselves with views of
/// what they are cut from, where it is in one piece and stays as it is: units
/// that are no kernels. `classes` are those of the block before.
std::vector<KernelUnit> viewParts(std::vector<KernelUnit> units,
                                  const AliasClasses &classes);

/// Makes one kernel of those that stand side by side and need nothing of each
/// other. `classes` are those of the block.
std::vector<KernelUnit> joinKernels(std::vector<KernelUnit> units,
                                    const AliasClasses &classes);

/// Operands that results of the op overwrite.
llvm::SmallVector<mlir::Value> getOverwritten(mlir::Operation *op);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_KERNELS_KERNELGROUPS_H
