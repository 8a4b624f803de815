//===- Passes.h - passes that compile kernels for GPUs ----------*- C++ -*-===//
//
// From linalg on tensors to device functions and their launches.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TARGET_CUDA_PASSES_H
#define DTC_TARGET_CUDA_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Target/CUDA/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Target/CUDA/Passes.h.inc"

/// Whether a device function writes to a buffer, or to a view of it.
bool isWritten(mlir::Value memref);

/// The passes that turn one module of kernels into device functions and
/// launches.
void buildDeviceFunctionsPipeline(mlir::OpPassManager &manager);

/// The passes that turn one module of kernels into launchers and emulated
/// device functions, in the LLVM dialect.
void buildEmulatedKernelsPipeline(mlir::OpPassManager &manager);

} // namespace dtc

#endif // DTC_TARGET_CUDA_PASSES_H
