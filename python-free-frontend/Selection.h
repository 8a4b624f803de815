//===- Selection.h - what a mask selects ------------------------*- C++ -*-===//
//
// x[mask] has as many elements as data say, which no plan could know. Its value
// here has an element for each place of the mask, selected or not, and is
// followed through the model: most operators keep elements apart, and what
// brings them together, such as a sum, leaves out those that are not selected.
// No more than x[mask] of PyTorch do these influence a result.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SELECTION_H
#define DTC_FRONTEND_SELECTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace dtc::frontend {

class Call;
class HostTensor;

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

bool hasSelection(const Call &call);

/// Whether operand 1 is the coordinates of rows of operand 0: of all of it, or,
/// in their order, of what is selected of it.
bool selectsRows(const Call &call);

/// Whether coordinates, [places, dimensions], are those of all elements of the
/// first dimensions of `shape`, in their order.
bool areAllInOrder(const HostTensor *coordinates,
                   llvm::ArrayRef<int64_t> shape);

/// Whether the node brings selected elements together.
bool joinsSelected(const Call &call);

/// Whether the node must be built, whatever is known of its operands: it joins
/// selected elements, or computes with their number.
bool needsMask(const Call &call, bool isElementwise);

/// Whether the node's rule reads an operand that is a count as a number, which
/// data say, rather than as a shape, which is known.
bool readsNumber(const Call &call, bool isElementwise, unsigned operand);

/// What the results of a node select, which have the shape `result`, or an
/// error if that cannot be told.
llvm::Expected<std::optional<Selection>>
followSelection(const Call &call, bool isElementwise,
                llvm::ArrayRef<int64_t> result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SELECTION_H
