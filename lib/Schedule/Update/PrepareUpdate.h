//===- PrepareUpdate.h - parts of the pass ----------------------*- C++ -*-===//
//
// Each changes what the update of a plan takes; in this order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_UPDATE_PREPAREUPDATE_H
#define DTC_LIB_SCHEDULE_UPDATE_PREPAREUPDATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// The update cuts the rank's shard of a parameter out of the whole that the
/// prologue has gathered.
void releaseParts(mlir::func::FuncOp plan);

/// Last runs reduce the gradients that they complete; the update takes the
/// sums.
void hoistReductions(mlir::func::FuncOp plan);

/// All-reduces of one function become variadic ones of up to so many bytes.
/// With `startsEarly` the first is small.
void bucketGradients(mlir::func::FuncOp function, int64_t bytes,
                     bool startsEarly);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_UPDATE_PREPAREUPDATE_H
