//===- Interpreter.h - executes dtc ops in double precision -----*- C++ -*-===//
//
// The reference of kernels, gradients and imported operators: plain loops over
// elements, written from the definitions in the dialect. Every element is a
// double, for any type. Boundaries and sums over stages behave as on one
// device. An overwritten operand keeps its value.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_INTERPRETER_INTERPRETER_H
#define DTC_UNITTESTS_INTERPRETER_INTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace dtc {

struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;

  explicit HostTensor(llvm::ArrayRef<int64_t> shape = {}, double value = 0);
  int64_t size() const { return data.size(); }
};

/// Returns the results of an op; aborts with a message for an unknown op.
std::vector<HostTensor> evaluate(mlir::Operation *op,
                                 llvm::ArrayRef<HostTensor> operands);

/// A callback that may change the results of an op.
using ObserveFn =
    llvm::function_ref<void(mlir::Operation *op, std::vector<HostTensor> &)>;

/// Returns the results of a function of dtc ops.
std::vector<HostTensor> interpret(mlir::func::FuncOp function,
                                  llvm::ArrayRef<HostTensor> arguments,
                                  ObserveFn observe = nullptr);

} // namespace dtc

#endif // DTC_UNITTESTS_INTERPRETER_INTERPRETER_H
