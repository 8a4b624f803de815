//===- KnownValues.h - facts about IR values --------------------*- C++ -*-===//
//
// Tells import rules about operands that have become ops. For example, one of
// several coordinates may be a constant that was concatenated with data.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_KNOWNVALUES_H
#define DTC_FRONTEND_OPS_KNOWNVALUES_H

#include "Support/HostTensor.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace dtc::frontend {

/// The elements of an integer value, if it is made only of constants and shape
/// ops; else nothing.
std::optional<HostTensor> getKnownInts(mlir::Value value);

/// Whether the value is 0, 1, ... along a dimension, and constant along all
/// others.
bool countsAlong(mlir::Value value, int64_t dim);

/// Marks indices that are distinct along a dimension, such as those of TopK.
void markDistinct(mlir::Value indices, int64_t dim);

/// Whether the elements of the value come from indices with such a mark.
bool areDistinct(mlir::Value indices, int64_t dim);

/// Removes the marks.
void eraseMarks(mlir::Operation *op);

/// Bounds, both inclusive.
struct Range {
  int64_t low, high;
};

/// The range of integers for all possible data. Without bounds it is the range
/// of the type.
Range getRange(mlir::Value integers);

/// Whether the value is integer data of the model, perhaps reshaped or cast.
bool isData(mlir::Value value);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_KNOWNVALUES_H
