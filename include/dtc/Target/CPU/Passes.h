//===- Passes.h - passes that compile kernels for CPUs ----------*- C++ -*-===//
//
// Passes that lower linalg on tensors to the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TARGET_CPU_PASSES_H
#define DTC_TARGET_CPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Target/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Target/CPU/Passes.h.inc"

/// Adds the passes that lower one module of kernels to loops on buffers.
void buildKernelLoopsPipeline(mlir::OpPassManager &manager,
                              const LowerKernelsOptions &options);

/// Adds the passes that lower one module of loops on buffers to the LLVM
/// dialect. Arguments become bare pointers.
void buildLowerToLLVMPipeline(mlir::OpPassManager &manager);

} // namespace dtc

#endif // DTC_TARGET_CPU_PASSES_H
