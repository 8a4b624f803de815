//===- Passes.h - passes that compile kernels for GPUs ----------*- C++ -*-===//
//
// Passes that lower linalg on tensors to device functions and launches.
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

/// Adds the passes that lower one module of kernels to device functions and
/// launches.
void buildDeviceFunctionsPipeline(mlir::OpPassManager &manager);

/// Adds the passes that lower one module of kernels to launchers and emulated
/// device functions, in the LLVM dialect.
void buildEmulatedKernelsPipeline(mlir::OpPassManager &manager);

} // namespace dtc

#endif // DTC_TARGET_CUDA_PASSES_H
