//===- Elementwise.h - elementwise ops --------------------------*- C++ -*-===//

#ifndef DTC_DIALECT_ELEMENTWISE_H
#define DTC_DIALECT_ELEMENTWISE_H

#include "mlir/IR/Operation.h"

namespace dtc {

/// Whether the op has one result, each of whose elements depends only on the
/// operands' elements at the same place, by NumPy broadcasting.
bool isElementwise(mlir::Operation *op);

/// Evaluates an elementwise op on one element of each operand, in double
/// precision. Booleans are 0 and 1. Returns none for an op that it does not
/// support.
std::optional<double> evaluateElement(mlir::Operation *op,
                                      llvm::ArrayRef<double> x);

} // namespace dtc

#endif // DTC_DIALECT_ELEMENTWISE_H
