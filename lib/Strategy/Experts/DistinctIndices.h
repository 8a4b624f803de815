//===- DistinctIndices.h - indices that are known to differ -----*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_EXPERTS_DISTINCTINDICES_H
#define DTC_LIB_STRATEGY_EXPERTS_DISTINCTINDICES_H

#include "mlir/IR/Value.h"

namespace dtc {

/// The number of neighbours among indices, from the first on, that are distinct
/// if no score is NaN, because they are the indices of a TopK; else 1.
int64_t findDistinct(mlir::Value indices);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_EXPERTS_DISTINCTINDICES_H
