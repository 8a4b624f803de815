//===- Selection.h - what a mask selects ------------------------*- C++ -*-===//
//
// x[mask] has as many elements as data say, which no plan could know. Its value
// here has an element for each place of the mask, selected or not, and is
// followed through the model: most operators keep elements apart, and those
// that bring them together, such as a sum, leave out unselected ones.
// Unselected elements never influence a result, as with x[mask] in PyTorch.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SHAPES_SELECTION_H
#define DTC_FRONTEND_SHAPES_SELECTION_H

#include <cstdint>

namespace dtc::frontend {

struct Selection {
  int mask; ///< a number: equal masks have the same
  /// The dimension along which the value has the places of the mask; of a
  /// count, the element that is one.
  int64_t dim;
  /// How many elements of the dimension belong to a place, which lie side by
  /// side: those of a row that was made flat. Of a count that was computed
  /// with, 0.
  int64_t inner = 1;
  /// What selects the mask itself: -1 if nothing does.
  int within = -1;
  /// The value is a shape of which an element is the number of places, where
  /// the model has that of selected ones.
  bool isCount = false;
  /// The value is coordinates of a mask of selected rows, which are numbered as
  /// all rows are here: it serves to look up, and is no number.
  bool isPlace = false;

  /// Whether the elements are those of the same places.
  bool operator==(const Selection &other) const {
    return mask == other.mask && dim == other.dim && inner == other.inner &&
           isCount == other.isCount;
  }
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_SELECTION_H
