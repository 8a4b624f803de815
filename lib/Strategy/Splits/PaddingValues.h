//===- PaddingValues.h - values in padding ----------------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_SPLITS_PADDINGVALUES_H
#define DTC_LIB_STRATEGY_SPLITS_PADDINGVALUES_H

#include "DimensionClasses.h"

namespace dtc {

/// Describes an op: "layer_norm (node 'ln_1')".
std::string describeOp(mlir::Operation *op);

/// The reason why a class cannot be padded at its end with zeros; empty if it
/// can.
std::string findPaddingObstacle(mlir::func::FuncOp function,
                                DimensionClasses &classes, unsigned number);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_SPLITS_PADDINGVALUES_H
