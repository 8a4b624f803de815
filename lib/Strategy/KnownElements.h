//===- KnownElements.h - what follows from constants ------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_KNOWNELEMENTS_H
#define DTC_LIB_STRATEGY_KNOWNELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace dtc {

/// The elements of floats or booleans if they follow from constants by
/// comparisons, choices, arithmetic and repetition; null if they do not, or are
/// very many. Dimensions but the last along which a tensor repeats itself, as a
/// mask does for each sample, have size 1.
mlir::DenseElementsAttr getKnownElements(mlir::Value value);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_KNOWNELEMENTS_H
