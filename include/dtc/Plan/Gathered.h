//===- Gathered.h - what a plan gathers once a step -------------*- C++ -*-===//

#ifndef DTC_PLAN_GATHERED_H
#define DTC_PLAN_GATHERED_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// A gather of a prologue that the plan gets as it is.
struct Gathered {
  AllGatherOp op;
  RunOp run;         ///< of the prologue
  mlir::Value whole; ///< in the plan
  mlir::BlockArgument
      part; ///< of the plan; null if it is none of its arguments
};

llvm::SmallVector<Gathered> getGathered(mlir::func::FuncOp plan);

} // namespace dtc

#endif // DTC_PLAN_GATHERED_H
