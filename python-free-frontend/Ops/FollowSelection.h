//===- FollowSelection.h - operators on masked values -----------*- C++ -*-===//
//
// Rules of operators for the elements that a mask selects (Shapes/Selection.h).
// A table has the rule of each operator that accepts such elements; all other
// operators refuse them. Elementwise operators share one rule.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_FOLLOWSELECTION_H
#define DTC_FRONTEND_OPS_FOLLOWSELECTION_H

#include "Ops/Operators.h"

namespace dtc::frontend {

/// Whether operand 1 has the coordinates of rows of operand 0: of all rows, or
/// of the selected ones, in their order.
bool selectsRows(const Call &call);

/// Whether coordinates [places, dimensions] name all elements of the first
/// dimensions of `shape`, in order.
bool areAllInOrder(const HostTensor *coordinates,
                   llvm::ArrayRef<int64_t> shape);

/// Whether the node combines selected elements with each other.
bool joinsSelected(const Call &call);

/// Whether the node becomes ops even if all operands are known, because it
/// combines selected elements or computes with their number.
bool needsMask(const Call &call, const Operator &op);

/// Whether the node's rule reads a Count operand as the number of selected
/// elements, which depends on data. The alternative is a shape, which is known.
bool readsNumber(const Call &call, const Operator &op, unsigned operand);

/// The selection of the node's results, which have shape `result`. An error if
/// the operator refuses its operands.
llvm::Expected<std::optional<Selection>>
followSelection(const Call &call, const Operator &op,
                llvm::ArrayRef<int64_t> result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_FOLLOWSELECTION_H
