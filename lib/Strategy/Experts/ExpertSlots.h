//===- ExpertSlots.h - products by chosen matrices, in slots ----*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_EXPERTS_EXPERTSLOTS_H
#define DTC_LIB_STRATEGY_EXPERTS_EXPERTSLOTS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace dtc {

/// The products by one choice of experts, which it moves into slots together
/// with ops around them.
class ExpertSlots {
public:
  ExpertSlots(mlir::Value indices, int64_t experts, int64_t groups,
              int64_t capacity)
      : indices(indices),
        rows(llvm::cast<mlir::RankedTensorType>(indices.getType())
                 .getDimSize(0)),
        experts(experts), groups(groups), capacity(capacity),
        builder(indices.getContext()) {}

  /// Moves products, and ops that read their results, into slots. Parameters
  /// that belong to experts are added to `split`.
  void run(mlir::func::FuncOp step, llvm::SetVector<mlir::Value> &split);

private:
  /// Whether a value has the router's rows as its first dimension.
  bool hasRows(mlir::Value value) const {
    mlir::RankedTensorType type =
        llvm::cast<mlir::RankedTensorType>(value.getType());
    return type.getRank() > 0 && type.getDimSize(0) == rows;
  }
  bool isOwnProduct(mlir::Operation *op) const {
    auto product = llvm::dyn_cast<GroupedMatMulOp>(op);
    return product && product.getIndices() == indices &&
           product.getWeights().getType().getDimSize(0) == experts;
  }
  /// The operands of an op that have the rows of its results.
  llvm::SmallVector<bool> findRows(mlir::Operation *op) const;
  bool canLift(mlir::Operation *op) const;
  mlir::Value findBiases(mlir::Value value) const;
  mlir::Value mask(mlir::Value value, int64_t rank);
  mlir::Value getSlots(mlir::Value value);
  mlir::Value getRows(mlir::Value value, mlir::Value made);
  void lift(GroupedMatMulOp product);
  void lift(mlir::Operation *op);
  /// The type of a value of rows in slots.
  mlir::Type inSlots(mlir::Type rowType) const {
    auto type = llvm::cast<mlir::RankedTensorType>(rowType);
    llvm::SmallVector<int64_t> shape = {experts, groups, capacity};
    llvm::append_range(shape, type.getShape().drop_front());
    return type.clone(shape);
  }

  mlir::Value indices;
  int64_t rows, experts, groups, capacity;
  mlir::OpBuilder builder;
  mlir::Value counts;
  llvm::DenseMap<mlir::Value, mlir::Value> slots; ///< by the value of rows
  llvm::SmallVector<mlir::Value> moved; ///< values whose ops are in slots now
  /// Tables of biases, and weights.
  llvm::SetVector<mlir::Value> parameters;
};

} // namespace dtc

#endif // DTC_LIB_STRATEGY_EXPERTS_EXPERTSLOTS_H
