//===- Interpreter.h - executes dtc ops in double precision -----*- C++ -*-===//
//
// A reference for tests: plain loops, every element a double whatever its
// type. Boundaries and sums over stages are what they are on one device.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_TRAINING_INTERPRETER_H
#define DTC_UNITTESTS_TRAINING_INTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace dtc {

struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;

  explicit HostTensor(llvm::ArrayRef<int64_t> shape, double value = 0);
  int64_t size() const { return data.size(); }
};

/// The results of a function; aborts with a message on an op it does not know.
std::vector<HostTensor> interpret(mlir::func::FuncOp func,
                                  const std::vector<HostTensor> &arguments);

} // namespace dtc

#endif // DTC_UNITTESTS_TRAINING_INTERPRETER_H
