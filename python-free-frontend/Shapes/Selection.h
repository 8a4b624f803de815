//===- Selection.h - elements that a mask selects ---------------*- C++ -*-===//
//
// The number of elements of x[mask] depends on data, so no plan could know it.
// The importer's value has an element for each place of the mask instead,
// selected or not. A Selection follows this value through the model. Most
// operators keep elements apart; those that bring them together, such as a sum,
// leave out unselected ones. Unselected elements never influence a result, as
// with x[mask] in PyTorch.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SHAPES_SELECTION_H
#define DTC_FRONTEND_SHAPES_SELECTION_H

#include <cstdint>

namespace dtc::frontend {

struct Selection {
  int mask; ///< number of the mask; equal masks have the same number
  /// The dimension of the value that has the places of the mask. For a count:
  /// the index of the element that is the count.
  int64_t dim;
  /// Number of adjacent elements of the dimension that belong to one place. It
  /// is more than 1 after rows were flattened, and 0 for a count that the model
  /// has computed with.
  int64_t inner = 1;
  /// Number of the mask that selects this mask; -1 if there is none.
  int within = -1;
  /// Whether the value is a shape. Its element `dim` is the number of places;
  /// in the model it is the number of selected elements.
  bool isCount = false;
  /// Whether the value is coordinates from a mask of selected rows. The
  /// importer numbers all rows, so the coordinates serve lookups only, and not
  /// as numbers.
  bool isPlace = false;

  /// Whether both values have elements for the same places.
  bool operator==(const Selection &other) const {
    return mask == other.mask && dim == other.dim && inner == other.inner &&
           isCount == other.isCount;
  }
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_SELECTION_H
