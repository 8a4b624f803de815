//===- Interpreter.h - executes dtc ops in double precision -----*- C++ -*-===//
//
// The one reference of kernels, gradients and imported operators: plain loops
// over elements, written from the definitions in the dialect. Every element is
// a double, whatever its type. Boundaries and sums over stages are what they
// are on one device; what an op overwrites keeps its value.
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

/// The results of an op; aborts with a message if it does not know the op.
std::vector<HostTensor> evaluate(mlir::Operation *op,
                                 llvm::ArrayRef<HostTensor> operands);

/// May change what an op has resulted in.
using ObserveFn =
    llvm::function_ref<void(mlir::Operation *op, std::vector<HostTensor> &)>;

/// The results of a function of dtc ops.
std::vector<HostTensor> interpret(mlir::func::FuncOp function,
                                  llvm::ArrayRef<HostTensor> arguments,
                                  ObserveFn observe = nullptr);

} // namespace dtc

#endif // DTC_UNITTESTS_INTERPRETER_INTERPRETER_H
