//===- RandomKernel.h - graphs of tensor ops drawn at random ----*- C++ -*-===//

#ifndef DTC_UNITTESTS_LOWERING_RANDOMKERNEL_H
#define DTC_UNITTESTS_LOWERING_RANDOMKERNEL_H

#include "Interpreter.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// A function of dtc ops in the module of a stage, and its arguments.
struct KernelCase {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<HostTensor> arguments;

  mlir::func::FuncOp getFunction() const;
};

/// An empty function, which returns nothing.
KernelCase createKernelCase(mlir::MLIRContext &context);

/// A graph whose values are finite and not ill-conditioned; the same for the
/// same seed.
KernelCase drawKernel(mlir::MLIRContext &context, uint64_t seed);

/// Whether two evaluations have the same result even if operands are rounded:
/// it only moves, chooses or compares elements.
bool isExact(mlir::Operation *op);

} // namespace dtc

#endif // DTC_UNITTESTS_LOWERING_RANDOMKERNEL_H
