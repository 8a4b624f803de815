//===- FollowSelection.h - operators on what a mask selects --- -*- C++ -*-===//
//
// Operators of masked values (Shapes/Selection.h). A table has a rule for each
// operator that takes them; any other refuses them. Elementwise operators have
// one rule.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_FOLLOWSELECTION_H
#define DTC_FRONTEND_OPS_FOLLOWSELECTION_H

#include "Ops/Operators.h"

namespace dtc::frontend {

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
bool needsMask(const Call &call, const Operator &op);

/// Whether the node's rule reads an operand that is a count as a number, which
/// data say, rather than as a shape, which is known.
bool readsNumber(const Call &call, const Operator &op, unsigned operand);

/// The selection of a node's results, which have the shape `result`, or an
/// error if the operator refuses its operands.
llvm::Expected<std::optional<Selection>>
followSelection(const Call &call, const Operator &op,
                llvm::ArrayRef<int64_t> result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_FOLLOWSELECTION_H
