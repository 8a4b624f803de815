//===- CountLaunches.h - device functions that kernels launch ---*- C++ -*-===//

#ifndef DTC_TARGET_CUDA_COUNTLAUNCHES_H
#define DTC_TARGET_CUDA_COUNTLAUNCHES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace dtc {

/// How many device functions each kernel of a planned module launches, by the
/// kernel's name: kernels of a copy are lowered. Fails with a diagnostic if one
/// has no lowering.
mlir::FailureOr<llvm::StringMap<int64_t>> countLaunches(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_TARGET_CUDA_COUNTLAUNCHES_H
