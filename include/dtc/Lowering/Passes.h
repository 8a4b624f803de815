//===- Passes.h - passes of the lower phase ---------------------*- C++ -*-===//
//
// From plans and kernels to the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_PASSES_H
#define DTC_LOWERING_PASSES_H

#include "dtc/Lowering/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Lowering/Passes.h.inc"

/// Function attribute of a lowered kernel: bytes of its last argument, a
/// scratch buffer.
constexpr llvm::StringLiteral scratchAttrName = "dtc.scratch";

/// Function attribute of a kernel that is called: bytes behind each argument.
constexpr llvm::StringLiteral argumentBytesAttrName = "dtc.argument_bytes";

/// Turns the modules of kernels, dtc ops on plain tensors, into the LLVM
/// dialect; leaves everything else alone.
void buildLowerKernelsPipeline(mlir::OpPassManager &manager,
                               const TargetOptions &target);

/// The passes that turn one module of kernels into loops on buffers.
void buildKernelLoopsPipeline(mlir::OpPassManager &manager, unsigned vectorBits,
                              bool hasBf16);

/// The passes that turn one module of loops on buffers into the LLVM dialect;
/// arguments become bare pointers.
void buildLowerToLLVMPipeline(mlir::OpPassManager &manager);

} // namespace dtc

#endif // DTC_LOWERING_PASSES_H
