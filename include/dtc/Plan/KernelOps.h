//===- KernelOps.h - which ops can share a kernel ---------------*- C++ -*-===//
//
// The role of an op in a kernel. Models of the interface are attached to the
// ops by `registerKernelOpModels`.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_KERNELOPS_H
#define DTC_PLAN_KERNELOPS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace dtc {

namespace attr {
/// Function: it is a kernel.
constexpr llvm::StringLiteral kernel = "dtc.kernel";
} // namespace attr

enum class Fusion {
  Anywhere, ///< a row of the result needs a row of each operand
  Last,     ///< results are complete only when all rows are
  Alone,    ///< shares its kernel with nothing
};

struct KernelRole {
  Fusion fusion;
  /// The local shape that the loops run over: rows are all dimensions but the
  /// last. Ops share a kernel if their rows agree.
  mlir::RankedTensorType domain;
  /// Operands that are read at positions that are data: they must be complete
  /// before the kernel begins.
  llvm::SmallVector<unsigned, 1> lookedUp;

  llvm::ArrayRef<int64_t> getRows() const {
    llvm::ArrayRef<int64_t> shape = domain.getShape();
    return shape.empty() ? shape : shape.drop_back();
  }
};

/// The sum over micro-batches that alone reads a product, which then adds to
/// the accumulator itself; null if there is none.
AccumulateOp getAccumulation(mlir::Operation *product);

/// Whether the op is such a sum: no kernel computes it.
bool isMadeByProduct(mlir::Operation *op);

/// Whether a kernel reads a value or a view of it, other than that of an op.
bool isReadByKernel(mlir::Value value, mlir::Operation *besides = nullptr);

/// Attaches the interface to the ops that kernels are made of.
void registerKernelOpModels(mlir::DialectRegistry &registry);

} // namespace dtc

#include "dtc/Plan/KernelOps.h.inc"

#endif // DTC_PLAN_KERNELOPS_H
