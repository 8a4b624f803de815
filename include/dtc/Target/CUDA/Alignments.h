//===- Alignments.h - how the buffers of kernels are aligned ----*- C++ -*-===//

#ifndef DTC_TARGET_CUDA_ALIGNMENTS_H
#define DTC_TARGET_CUDA_ALIGNMENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

namespace attr {
/// Argument or result of a kernel: bytes that its address is a multiple of.
constexpr llvm::StringLiteral alignment = "dtc.alignment";
} // namespace attr

/// Writes `dtc.alignment` on the arguments and results of all kernels, by the
/// launches of the stages and the views that these are given.
void annotateAlignments(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_TARGET_CUDA_ALIGNMENTS_H
