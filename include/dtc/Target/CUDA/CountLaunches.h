//===- CountLaunches.h - numbers of launches of kernels ---------*- C++ -*-===//

#ifndef DTC_TARGET_CUDA_COUNTLAUNCHES_H
#define DTC_TARGET_CUDA_COUNTLAUNCHES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace dtc {

/// Counts the device functions that each kernel of a planned module launches,
/// by the kernel's name. Lowers a copy of the kernels, so `module` does not
/// change. Fails with a diagnostic if a kernel has no lowering.
mlir::FailureOr<llvm::StringMap<int64_t>> countLaunches(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_TARGET_CUDA_COUNTLAUNCHES_H
