//===- PaddingValues.h - what padded parameters make ------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_SPLITS_PADDINGVALUES_H
#define DTC_LIB_STRATEGY_SPLITS_PADDINGVALUES_H

#include "DimensionClasses.h"

namespace dtc {

/// The op in words: "layer_norm (node 'ln_1')".
std::string describeOp(mlir::Operation *op);

/// Why a class cannot be padded at its end with zeros; empty if it can.
std::string findPaddingObstacle(mlir::func::FuncOp function,
                                DimensionClasses &classes, unsigned number);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_SPLITS_PADDINGVALUES_H
