//===- KnownValues.h - IR values that follow from constants -----*- C++ -*-===//
//
// What import rules know of operands that have become ops: a coordinate among
// several may be a constant that was joined with data.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_KNOWNVALUES_H
#define DTC_FRONTEND_OPS_KNOWNVALUES_H

#include "Support/HostTensor.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace dtc::frontend {

/// The elements of an integer value that constants and shape ops make.
std::optional<HostTensor> getKnownInts(mlir::Value value);

/// Whether the value counts 0, 1, ... along a dimension and repeats along all
/// others.
bool countsAlong(mlir::Value value, int64_t dim);

/// Notes that indices occur once each along a dimension, as those of the
/// largest elements do.
void markDistinct(mlir::Value indices, int64_t dim);

/// Whether that is noted of what the value's elements come from.
bool areDistinct(mlir::Value indices, int64_t dim);

/// Removes the marks.
void eraseMarks(mlir::Operation *op);

struct Range {
  int64_t low, high;
};

/// Between which numbers the elements of integers are, whatever data are: all
/// that there are, if what computes them does not bound them.
Range getRange(mlir::Value integers);

/// Whether the value is integers of the model's data, up to shape and type.
bool isData(mlir::Value value);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_KNOWNVALUES_H
