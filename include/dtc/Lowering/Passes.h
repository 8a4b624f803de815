//===- Passes.h - passes of the lower phase ---------------------*- C++ -*-===//
//
// Passes that lower plans and kernels to the LLVM dialect.
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

/// Attribute of a kernel function: the size in bytes of each argument's buffer.
constexpr llvm::StringLiteral argumentBytesAttrName = "dtc.argument_bytes";

/// Attribute of a dtc.matmul_epilogue: the kernel that applies the epilogue to
/// the plain product. The runtime launches it if the library lacks the
/// epilogue.
constexpr llvm::StringLiteral epilogueKernelAttrName = "dtc.epilogue_kernel";

/// Creates LowerPlan for a target.
std::unique_ptr<mlir::Pass>
createLowerPlan(std::shared_ptr<const Target> target);

} // namespace dtc

#endif // DTC_LOWERING_PASSES_H
