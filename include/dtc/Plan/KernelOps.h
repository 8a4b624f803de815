//===- KernelOps.h - ops that can share a kernel ----------------*- C++ -*-===//
//
// The role of an op in a kernel. `registerKernelOpModels` attaches models of
// the interface to the ops.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_KERNELOPS_H
#define DTC_PLAN_KERNELOPS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace dtc {

namespace attr {
/// Function: marks a kernel.
constexpr llvm::StringLiteral kernel = "dtc.kernel";
} // namespace attr

enum class Fusion {
  Anywhere, ///< a row of the result depends on a row of each operand
  Last,     ///< results are complete only after all rows
  Alone,    ///< does not share its kernel with other ops
};

struct KernelRole {
  Fusion fusion;
  /// The local shape of the loops. Rows are all dimensions but the last. Ops
  /// can share a kernel if their rows agree.
  mlir::RankedTensorType domain;
  /// Operands read at positions that other data determines. They must be
  /// complete before the kernel starts.
  llvm::SmallVector<unsigned, 1> lookedUp;

  llvm::ArrayRef<int64_t> getRows() const {
    llvm::ArrayRef<int64_t> shape = domain.getShape();
    return shape.empty() ? shape : shape.drop_back();
  }
};

/// The sum over micro-batches that is a product's only reader, so that the
/// product adds to the accumulator itself; null if there is none.
AccumulateOp getAccumulation(mlir::Operation *product);

/// Whether the op is such a sum: no kernel computes it.
bool isMadeByProduct(mlir::Operation *op);

/// Whether a kernel op other than `besides` reads a value or a view of it.
bool isReadByKernel(mlir::Value value, mlir::Operation *besides = nullptr);

/// Attaches the interface to the ops that kernels can contain.
void registerKernelOpModels(mlir::DialectRegistry &registry);

} // namespace dtc

#include "dtc/Plan/KernelOps.h.inc"

#endif // DTC_PLAN_KERNELOPS_H
