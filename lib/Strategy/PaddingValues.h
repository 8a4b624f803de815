//===- PaddingValues.h - what padded parameters make ------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_PADDINGVALUES_H
#define DTC_LIB_STRATEGY_PADDINGVALUES_H

#include "DimensionClasses.h"

namespace dtc {

/// The first op that has no value, or no gradient, where the padding of a
/// class, which is zero in parameters, reaches it: a division by the norm of a
/// row, a logarithm. Null if there is none. What data decide is left to the
/// model: it is not zero there more than elsewhere.
mlir::Operation *findUndefinedAtPadding(mlir::func::FuncOp function,
                                        DimensionClasses &classes,
                                        unsigned number);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_PADDINGVALUES_H
