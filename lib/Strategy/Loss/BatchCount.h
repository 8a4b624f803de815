//===- BatchCount.h - number of elements in a batch -------------*- C++ -*-===//
//
// A constant, or a product with the number of replicas if that is known only at
// launch (docs/Architecture/Parallel.md).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_STRATEGY_LOSS_BATCHCOUNT_H
#define DTC_LIB_STRATEGY_LOSS_BATCHCOUNT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dtc {

/// Builds a count as tensor<f64>. `count` is the number in the module's batch.
/// If the number of replicas is known only at launch, that batch is the batch
/// of `replicas` replicas; otherwise `replicas` is 0. The builder must be in a
/// step.
mlir::Value createBatchCount(mlir::ImplicitLocOpBuilder &builder, int64_t count,
                             int64_t replicas);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_LOSS_BATCHCOUNT_H
