//===- ReferenceInterpreter.h - dtc ops, element by element -----*- C++ -*-===//
//
// What a kernel of dtc ops means, in double precision and without any thought
// of speed.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_LOWERING_REFERENCEINTERPRETER_H
#define DTC_UNITTESTS_LOWERING_REFERENCEINTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

struct ReferenceTensor {
  std::vector<int64_t> shape;
  std::vector<double> data;

  static ReferenceTensor zeros(llvm::ArrayRef<int64_t> shape);
};

/// The results of a function of dtc ops.
std::vector<ReferenceTensor>
interpret(mlir::func::FuncOp function,
          const std::vector<ReferenceTensor> &arguments);

} // namespace dtc

#endif // DTC_UNITTESTS_LOWERING_REFERENCEINTERPRETER_H
