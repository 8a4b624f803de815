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

/// The scalar op `combiner` on two values of one type, scalars or vectors.
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Operation *combiner, mlir::Value x, mlir::Value y);

/// What changes nothing when it is combined: of a scalar or vector type.
mlir::Value getNeutral(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Operation *combiner, mlir::Type type);

/// Combines the lanes of a vector by halves; a scalar is itself.
mlir::Value reduceLanes(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Operation *combiner, mlir::Value x);

/// The value with elements of a wider or narrower floating-point type.
mlir::Value castFloat(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type element);

/// The tensor that a statement writes.
mlir::RankedTensorType getWrittenType(const Statement &statement);

/// The flat index of what a statement writes, from the loops of its nest.
FlatIndex getWrittenIndex(const Statement &statement);

/// Whether the reduction is a sum of f32.
bool isSinglePrecisionSum(const Statement &statement);

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_COMBINE_H
