//===- Combine.h - code that combines elements of a reduction ---*- C++ -*-===//
//
// Sums and maxima of scalars and vectors, for emitters of row loops.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_ROWLOOPS_COMBINE_H
#define DTC_LOWERING_ROWLOOPS_COMBINE_H

#include "dtc/Lowering/RowLoops/Buffers.h"
#include "dtc/Lowering/RowLoops/Plan.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// Applies the scalar op `combiner` to two values of one type, scalars or
/// vectors.
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Operation *combiner, mlir::Value x, mlir::Value y);

/// The neutral element of `combiner`, in a scalar or vector type.
mlir::Value getNeutral(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Operation *combiner, mlir::Type type);

/// Combines the lanes of a vector by halves. Returns a scalar unchanged.
mlir::Value reduceLanes(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Operation *combiner, mlir::Value x);

/// Converts the value to a wider or narrower floating-point element type.
mlir::Value castFloat(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type element);

/// The tensor that a statement writes.
mlir::RankedTensorType getWrittenType(const Statement &statement);

/// The flat index of the element that a statement writes, in the loops of its
/// nest.
FlatIndex getWrittenIndex(const Statement &statement);

/// Whether the statement is an f32 sum.
bool isSinglePrecisionSum(const Statement &statement);

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_COMBINE_H
