//===- PrepareUpdate.h - parts of the pass ----------------------*- C++ -*-===//
//
// Each function changes the operands of a plan's update. They run in this
// order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_UPDATE_PREPAREUPDATE_H
#define DTC_LIB_SCHEDULE_UPDATE_PREPAREUPDATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Makes the update slice the rank's shard of a parameter out of the parameter
/// that the prologue has gathered.
void releaseParts(mlir::func::FuncOp plan);

/// Moves reductions of gradients to the last runs, which complete them; the
/// update takes the sums.
void hoistReductions(mlir::func::FuncOp plan);

/// Merges the all-reduces of one function into variadic ones of at most `bytes`
/// bytes. With `startsEarly` the first bucket is small.
void bucketGradients(mlir::func::FuncOp function, int64_t bytes,
                     bool startsEarly);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_UPDATE_PREPAREUPDATE_H
