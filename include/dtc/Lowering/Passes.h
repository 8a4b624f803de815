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

/// Function attribute of a kernel that is called: bytes behind each argument.
constexpr llvm::StringLiteral argumentBytesAttrName = "dtc.argument_bytes";

/// Attribute of a dtc.matmul_epilogue: the kernel that does the same to the
/// plain product, for libraries that lack the epilogue.
constexpr llvm::StringLiteral epilogueKernelAttrName = "dtc.epilogue_kernel";

/// LowerPlan for a target.
std::unique_ptr<mlir::Pass>
createLowerPlan(std::shared_ptr<const Target> target);

} // namespace dtc

#endif // DTC_LOWERING_PASSES_H
