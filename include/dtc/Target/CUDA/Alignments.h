//===- Alignments.h - alignment of kernel buffers ---------------*- C++ -*-===//

#ifndef DTC_TARGET_CUDA_ALIGNMENTS_H
#define DTC_TARGET_CUDA_ALIGNMENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

namespace attr {
/// Attribute of a kernel's argument or result: the alignment of its address, in
/// bytes.
constexpr llvm::StringLiteral alignment = "dtc.alignment";
} // namespace attr

/// Writes `dtc.alignment` on the arguments and results of all kernels. The
/// alignments follow from the launches in stage functions, and from the views
/// that are passed to them.
void annotateAlignments(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_TARGET_CUDA_ALIGNMENTS_H
