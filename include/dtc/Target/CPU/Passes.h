//===- Passes.h - passes that compile kernels for CPUs ----------*- C++ -*-===//
//
// From linalg on tensors to the LLVM dialect.
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

/// The passes that turn one module of kernels into loops on buffers.
void buildKernelLoopsPipeline(mlir::OpPassManager &manager,
                              const LowerKernelsOptions &options);

/// The passes that turn one module of loops on buffers into the LLVM dialect;
/// arguments become bare pointers.
void buildLowerToLLVMPipeline(mlir::OpPassManager &manager);

} // namespace dtc

#endif // DTC_TARGET_CPU_PASSES_H
