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

/// Returns a graph whose values are finite and well-conditioned. A seed gives
/// the same graph each time.
KernelCase drawKernel(mlir::MLIRContext &context, uint64_t seed);

/// Returns whether an op only moves, chooses or compares elements, so that its
/// result does not depend on rounding of operands.
bool isExact(mlir::Operation *op);

} // namespace dtc

#endif // DTC_UNITTESTS_LOWERING_RANDOMKERNEL_H
