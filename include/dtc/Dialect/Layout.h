//===- Layout.h - mesh and layout of a tensor -------------------*- C++ -*-===//
//
// The values of `#dtc.mesh` and `#dtc.layout`, and the layout of a type.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_LAYOUT_H
#define DTC_DIALECT_LAYOUT_H

#include "dtc/Dialect/Phase.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

// Included after MLIR's headers, whose names it uses.
#include "dtc/Dialect/Enums.h.inc"

#include <limits>
#include <optional>

namespace dtc {

/// One named axis of a mesh.
struct MeshAxis {
  mlir::StringAttr name;
  int64_t size;

  bool operator==(const MeshAxis &other) const {
    return name == other.name && size == other.size;
  }
};
inline llvm::hash_code hash_value(const MeshAxis &axis) {
  return llvm::hash_combine(axis.name, axis.size);
}

/// The distribution of a tensor along one axis on which it is not replicated.
struct AxisLayout {
  enum Kind { Split, Partial };
  static constexpr int64_t noDim = std::numeric_limits<int64_t>::min();

  mlir::StringAttr axis;
  Kind kind;
  int64_t dim;         ///< Split: the dimension, or noDim
  Reduction reduction; ///< Partial: how parts combine
  /// Split: the number of equal pieces of the dimension, or of its remainder
  /// after the axes before, each of which this axis splits.
  int64_t pieces = 1;

  static AxisLayout split(mlir::StringAttr axis, int64_t dim,
                          int64_t pieces = 1) {
    return {axis, Split, dim, Reduction::sum, pieces};
  }
  /// A value that differs along the axis without splitting a dimension: each
  /// position has a value of its own.
  static AxisLayout each(mlir::StringAttr axis) {
    return {axis, Split, noDim, Reduction::sum};
  }
  static AxisLayout partial(mlir::StringAttr axis, Reduction reduction) {
    return {axis, Partial, noDim, reduction};
  }
  bool isSplit() const { return kind == Split; }
  bool isPartial() const { return kind == Partial; }
  bool hasDim() const { return dim != noDim; }
  bool isEach() const { return isSplit() && !hasDim(); }
  bool operator==(const AxisLayout &other) const {
    return axis == other.axis && kind == other.kind && dim == other.dim &&
           reduction == other.reduction && pieces == other.pieces;
  }
  bool operator!=(const AxisLayout &other) const { return !(*this == other); }
};
inline llvm::hash_code hash_value(const AxisLayout &entry) {
  return llvm::hash_combine(entry.axis, entry.kind, entry.dim, entry.reduction,
                            entry.pieces);
}

} // namespace dtc

#define GET_ATTRDEF_CLASSES
#include "dtc/Dialect/Attributes.h.inc"

namespace dtc {

/// The layout of a ranked tensor type; null if it has none.
LayoutAttr getLayout(mlir::Type type);

/// The same tensor type with this layout. A null layout removes the layout.
mlir::RankedTensorType withLayout(mlir::Type type, LayoutAttr layout);

/// The part of a tensor that one rank holds: its local shape, without a layout.
mlir::RankedTensorType getLocalType(mlir::Type type);

} // namespace dtc

#endif // DTC_DIALECT_LAYOUT_H
