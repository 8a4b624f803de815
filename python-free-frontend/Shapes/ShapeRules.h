//===- ShapeRules.h - ONNX's rules for shapes and ranges --------*- C++ -*-===//
//
// How attributes and operands of shape operators are read, for the evaluator
// and the importer alike.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SHAPES_SHAPERULES_H
#define DTC_FRONTEND_SHAPES_SHAPERULES_H

#include "Shapes/Call.h"

namespace dtc::frontend {

/// Errors unless there can be a tensor of this shape. What rules compute from
/// possible shapes does not overflow; numbers of a model must be checked first.
llvm::Error requirePossible(llvm::ArrayRef<int64_t> shape);
/// Errors when a constant of this shape is too large to compute at import.
llvm::Error requireFoldable(llvm::ArrayRef<int64_t> shape);
/// Whether a node of known operands repeats or combines them to matrices of
/// more than 2^25 elements, as a mask of long sequences: it becomes ops, of
/// which the compiler knows what it needs to.
bool isLargeMask(const Call &call, bool isElementwise);

llvm::Expected<int64_t> normalizeAxis(int64_t axis, int64_t rank);
/// Ascending, without repetition.
llvm::Expected<Shape> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);
/// The element of a dimension that an index names, negative ones from its end,
/// or an error if it is outside.
llvm::Expected<int64_t> normalizeIndex(int64_t index, int64_t dim);

llvm::Expected<Shape> broadcastShapes(llvm::ArrayRef<int64_t> a,
                                      llvm::ArrayRef<int64_t> b);
/// The common shape of all operands.
llvm::Expected<Shape> broadcastOperands(const Call &call);

/// Result shapes of the operators that keep elements and their order.
llvm::Expected<Shape> reshapeShape(const Call &call);
llvm::Expected<Shape> flattenShape(const Call &call);
llvm::Expected<Shape> squeezeShape(const Call &call);
llvm::Expected<Shape> unsqueezeShape(const Call &call);

llvm::Expected<Shape> expandShape(const Call &call);
llvm::Expected<Shape> transposePermutation(const Call &call);

/// `size` elements of a dimension from `start` on, `step` apart.
struct DimRange {
  int64_t axis, start, step, size;
};
llvm::Expected<llvm::SmallVector<DimRange>> sliceRanges(const Call &call);

llvm::Expected<Shape> concatShape(const Call &call, int64_t axis);

/// Sizes of the parts, one per output of the node.
llvm::Expected<Shape> splitSizes(const Call &call, int64_t dim);

/// The diagonal of Trilu, no further out than the matrix is wide or high.
llvm::Expected<int64_t> triluDiagonal(const Call &call);

/// How often Tile repeats each dimension.
llvm::Expected<Shape> tileRepeats(const Call &call);

struct Reduction {
  Shape axes;
  /// With reduced dimensions of size 1, and as the node wants it.
  Shape keptShape, shape;
};
llvm::Expected<Reduction> reduction(const Call &call);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_SHAPERULES_H
