//===- Masks.h - operators that combine selected elements -------*- C++ -*-===//
//
// Keeps the masks of a model's selections (Selection.h). A node that combines
// selected elements, such as a sum, must leave out the others.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_MASKS_H
#define DTC_FRONTEND_OPS_MASKS_H

#include "Ops/NodeBuilder.h"
#include "Ops/Operators.h"

#include <vector>

namespace dtc::frontend {

/// The masks of a model.
class Masks {
public:
  struct Places {
    HostTensor coordinates; ///< [dimensions, places]
    Selection selection;    ///< selection of the coordinates
  };
  /// Adds the mask of a NonZero node, and returns all places of the mask.
  /// NonZero itself returns only those where the mask is true.
  llvm::Expected<Places> select(NodeBuilder &node);

  /// Integers of a shape. The number of selected elements replaces the number
  /// of places in `known`.
  mlir::Value count(NodeBuilder &node, const Selection &selection,
                    const HostTensor &known) const;

  /// Builds a node whose operands have selections.
  llvm::Error build(ImportRule rule, NodeBuilder &node,
                    llvm::MutableArrayRef<mlir::Value> operands) const;

private:
  mlir::Value countSelected(NodeBuilder &node, int mask) const;
  mlir::Value fill(NodeBuilder &node, mlir::Value x, const Selection &selection,
                   double otherwise) const;
  void guardOperands(NodeBuilder &node,
                     llvm::MutableArrayRef<mlir::Value> operands) const;
  llvm::Error buildReduction(ImportRule rule, NodeBuilder &node,
                             mlir::Value &operand) const;
  llvm::Error buildScatter(NodeBuilder &node) const;
  llvm::Error buildExpand(ImportRule rule, NodeBuilder &node) const;

  std::vector<mlir::Value> masks; ///< i1 tensors, by number of the mask
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_MASKS_H
