//===- FollowSelection.h - operators on what a mask selects --- -*- C++ -*-===//
//
// How selections (Shapes/Selection.h) pass through operators.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_FOLLOWSELECTION_H
#define DTC_FRONTEND_OPS_FOLLOWSELECTION_H

#include "Shapes/Call.h"

namespace dtc::frontend {

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

#endif // DTC_FRONTEND_OPS_FOLLOWSELECTION_H
