//===- Gathered.h - parameters gathered once a step -------------*- C++ -*-===//

#ifndef DTC_PLAN_GATHERED_H
#define DTC_PLAN_GATHERED_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// A gather in a prologue whose argument and result belong to the plan.
struct Gathered {
  AllGatherOp op;
  RunOp run;         ///< the run of the prologue
  mlir::Value whole; ///< the gathered value in the plan
  mlir::BlockArgument
      part; ///< the gathered argument of the plan; null if it is none
};

llvm::SmallVector<Gathered> getGathered(mlir::func::FuncOp plan);

} // namespace dtc

#endif // DTC_PLAN_GATHERED_H
