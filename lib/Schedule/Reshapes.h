//===- Reshapes.h - chains of reshapes --------------------------*- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_RESHAPES_H
#define DTC_LIB_SCHEDULE_RESHAPES_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

/// The value at the start of a chain of reshapes.
inline mlir::Value skipReshapes(mlir::Value view) {
  while (auto reshape = view.getDefiningOp<ReshapeOp>())
    view = reshape.getX();
  return view;
}

/// Reshapes a value to a type; returns the value if it has the type.
inline mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Value value,
                             mlir::Type type) {
  if (value.getType() == type)
    return value;
  return ReshapeOp::create(builder, value.getLoc(), type, value);
}

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_RESHAPES_H
