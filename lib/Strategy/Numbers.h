//===- Numbers.h - constants of floating-point numbers ----------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_NUMBERS_H
#define DTC_LIB_STRATEGY_NUMBERS_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

/// The elements of a constant; null for other values.
mlir::DenseElementsAttr getConstant(mlir::Value value);

/// The number that all elements of a floating-point constant equal, if any.
std::optional<double> getNumber(mlir::Value value);

/// A constant of rank 0.
mlir::Value createNumber(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Type element, double number);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_NUMBERS_H
