//===- ShapeRules.h - ONNX's rules for shapes and ranges --------*- C++ -*-===//
//
// Reads the attributes and operands of shape operators, for both the evaluator
// and the importer.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SHAPES_SHAPERULES_H
#define DTC_FRONTEND_SHAPES_SHAPERULES_H

#include "Shapes/Call.h"

namespace dtc::frontend {

/// Errors if no tensor can have this shape. Arithmetic on possible shapes does
/// not overflow; check numbers of a model before computing with them.
llvm::Error requirePossible(llvm::ArrayRef<int64_t> shape);
/// Errors if a constant of this shape is too large to compute at import.
llvm::Error requireFoldable(llvm::ArrayRef<int64_t> shape);
/// Whether a node with known operands broadcasts them to matrices of more than
/// 2^25 elements, such as the mask of long sequences. Such a node becomes ops,
/// so that the compiler can recognize the mask.
bool isLargeMask(const Call &call, bool isElementwise);

/// Maps a negative axis to one from 0 to rank - 1. Errors if the axis does not
/// exist.
llvm::Expected<int64_t> normalizeAxis(int64_t axis, int64_t rank);
/// The same for several axes. The result is sorted. Errors if an axis repeats.
llvm::Expected<Shape> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);
/// Maps a negative index to one from 0 to dim - 1. Errors if it is outside.
llvm::Expected<int64_t> normalizeIndex(int64_t index, int64_t dim);

/// The NumPy broadcast of two shapes. Errors if they do not broadcast.
llvm::Expected<Shape> broadcastShapes(llvm::ArrayRef<int64_t> a,
                                      llvm::ArrayRef<int64_t> b);
/// The NumPy broadcast of all operands' shapes.
llvm::Expected<Shape> broadcastOperands(const Call &call);

/// Result shapes of the operators that keep elements and their order.
llvm::Expected<Shape> reshapeShape(const Call &call);
llvm::Expected<Shape> flattenShape(const Call &call);
llvm::Expected<Shape> squeezeShape(const Call &call);
llvm::Expected<Shape> unsqueezeShape(const Call &call);

/// Result shape of Expand, and the permutation of Transpose.
llvm::Expected<Shape> expandShape(const Call &call);
llvm::Expected<Shape> transposePermutation(const Call &call);

/// Selects `size` elements of dimension `axis`: start, start + step, ...
struct DimRange {
  int64_t axis, start, step, size;
};
/// The dimensions that a Slice changes.
llvm::Expected<llvm::SmallVector<DimRange>> sliceRanges(const Call &call);

llvm::Expected<Shape> concatShape(const Call &call, int64_t axis);

/// Sizes of the parts of a Split of dimension size `dim`, one for each output.
llvm::Expected<Shape> splitSizes(const Call &call, int64_t dim);

/// The diagonal of Trilu, limited to the size of the matrix.
llvm::Expected<int64_t> triluDiagonal(const Call &call);

/// The number of repetitions of each dimension for Tile.
llvm::Expected<Shape> tileRepeats(const Call &call);

/// The dimensions that a reduction reduces.
struct Reduction {
  Shape axes;
  /// Result shape with reduced dimensions of size 1, and the node's own one.
  Shape keptShape, shape;
};
llvm::Expected<Reduction> reduction(const Call &call);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_SHAPERULES_H
