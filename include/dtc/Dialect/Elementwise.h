//===- Elementwise.h - ops on one element of each operand -------*- C++ -*-===//

#ifndef DTC_DIALECT_ELEMENTWISE_H
#define DTC_DIALECT_ELEMENTWISE_H

#include "mlir/IR/Operation.h"

namespace dtc {

/// Whether each element of the only result needs the elements at its place, by
/// NumPy broadcasting.
bool isElementwise(mlir::Operation *op);

} // namespace dtc

#endif // DTC_DIALECT_ELEMENTWISE_H
