//===- Masks.h - nodes that need what a mask selects ------------*- C++ -*-===//
//
// The masks of a model's selections (Selection.h), and how nodes that bring
// selected elements together leave the others out.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_MASKS_H
#define DTC_FRONTEND_OPS_MASKS_H

#include "Ops/NodeBuilder.h"
#include "Ops/Operators.h"

#include <vector>

namespace dtc::frontend {

class Masks {
public:
  struct Places {
    HostTensor coordinates; ///< [dimensions, places]
    Selection selection;    ///< what these are
  };
  /// All places of a mask, of which NonZero has those where the operand is not
  /// 0.
  llvm::Expected<Places> select(NodeBuilder &node);

  /// Integers of a shape, as many as are selected where `known` has places.
  mlir::Value count(NodeBuilder &node, const Selection &selection,
                    const HostTensor &known) const;

  /// Builds a node with operands that select.
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

  std::vector<mlir::Value> masks; ///< i1, by number
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_MASKS_H
