//===- Take.h - elements of a dimension at known indices --------*- C++ -*-===//
//
// What lookups, slices, pads and windows have in common.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_TAKE_H
#define DTC_FRONTEND_OPS_TAKE_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// The elements of dimension `axis` at `indices`, which are not negative: a
/// slice, a few of them joined, or a lookup.
mlir::Value take(NodeBuilder &node, mlir::Value x, int64_t axis,
                 llvm::ArrayRef<int64_t> indices);

/// The rows of dimension `axis` that `indices` name, in the place of the axis.
mlir::Value lookUp(NodeBuilder &node, mlir::Value x, int64_t axis,
                   mlir::Value indices);

/// Tensors that agree in all dimensions but `axis`, one after another.
mlir::Value join(NodeBuilder &node, llvm::ArrayRef<mlir::Value> parts,
                 int64_t axis);

/// `before` and `after` elements, not negative, of a scalar's value around
/// those of a dimension.
mlir::Value pad(NodeBuilder &node, mlir::Value x, int64_t axis, int64_t before,
                int64_t after, const HostTensor &value);

/// What a value repeats along all dimensions from `dim` on, without these; null
/// if it varies there.
mlir::Value getRepeated(NodeBuilder &node, mlir::Value x, int64_t dim);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_TAKE_H
