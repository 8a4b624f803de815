//===- Take.h - elements at known indices -----------------------*- C++ -*-===//
//
// Common parts of lookups, slices, pads and windows.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_TAKE_H
#define DTC_FRONTEND_OPS_TAKE_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// The elements of dimension `axis` at `indices`, which are not negative.
/// Becomes a slice, a few concatenated slices, or a lookup.
mlir::Value take(NodeBuilder &node, mlir::Value x, int64_t axis,
                 llvm::ArrayRef<int64_t> indices);

/// The rows of dimension `axis` at `indices`. The dimensions of `indices`
/// replace the axis.
mlir::Value lookUp(NodeBuilder &node, mlir::Value x, int64_t axis,
                   mlir::Value indices);

/// Concatenates tensors along `axis`.
mlir::Value join(NodeBuilder &node, llvm::ArrayRef<mlir::Value> parts,
                 int64_t axis);

/// Pads a dimension with `before` and `after` copies of a scalar. Neither is
/// negative.
mlir::Value pad(NodeBuilder &node, mlir::Value x, int64_t axis, int64_t before,
                int64_t after, const HostTensor &value);

/// Removes the dimensions from `dim` on, if the value is constant along them.
/// Null if it is not.
mlir::Value getRepeated(NodeBuilder &node, mlir::Value x, int64_t dim);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_TAKE_H
