//===- Elementwise.h - ops on one element of each operand -------*- C++ -*-===//

#ifndef DTC_DIALECT_ELEMENTWISE_H
#define DTC_DIALECT_ELEMENTWISE_H

#include "mlir/IR/Operation.h"

namespace dtc {

/// Whether each element of the only result needs the elements at its place, by
/// NumPy broadcasting.
bool isElementwise(mlir::Operation *op);

/// The element of an elementwise op's result that follows from one of each
/// operand, in double precision; booleans are 0 and 1. None if `op` is not one
/// of those that are known here.
std::optional<double> evaluateElement(mlir::Operation *op,
                                      llvm::ArrayRef<double> x);

} // namespace dtc

#endif // DTC_DIALECT_ELEMENTWISE_H
