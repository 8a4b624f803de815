//===- BatchCount.h - how many there are in a batch -------------*- C++ -*-===//
//
// A number, or, where the number of replicas is known at launch only
// (docs/Architecture/Parallel.md), a product with it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_STRATEGY_LOSS_BATCHCOUNT_H
#define DTC_LIB_STRATEGY_LOSS_BATCHCOUNT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dtc {

/// How many there are, as tensor<f64>: `count` in the module's batch, which is
/// that of `replicas` if their number is known at launch only, else 0. The
/// builder stands in a step.
mlir::Value createBatchCount(mlir::ImplicitLocOpBuilder &builder, int64_t count,
                             int64_t replicas);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_LOSS_BATCHCOUNT_H
