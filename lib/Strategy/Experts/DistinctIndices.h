//===- DistinctIndices.h - indices that are known to differ -----*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_EXPERTS_DISTINCTINDICES_H
#define DTC_LIB_STRATEGY_EXPERTS_DISTINCTINDICES_H

#include "mlir/IR/Value.h"

namespace dtc {

/// Returns k if each k consecutive indices are distinct, as those of a TopK of
/// scores that are not NaN; else 1.
int64_t findDistinct(mlir::Value indices);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_EXPERTS_DISTINCTINDICES_H
