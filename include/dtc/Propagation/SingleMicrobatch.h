//===- SingleMicrobatch.h - values of a step's only micro-batch -*- C++ -*-===//
//
// With one micro-batch a sum over all of them is the value itself, so any op of
// the micro-batch may need it. This says which values that are summed, or known
// only at the end of the step, belong to the micro-batch instead.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PROPAGATION_SINGLEMICROBATCH_H
#define DTC_PROPAGATION_SINGLEMICROBATCH_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Follows the propagation of layouts through a step, op by op.
class SingleMicrobatch {
public:
  SingleMicrobatch(mlir::func::FuncOp step, MeshAttr mesh);

  /// Whether a value depends on inputs and constants alone: a sum of such is
  /// known before the micro-batch.
  bool isOfInputs(mlir::Value value) const { return ofInputs.contains(value); }

  /// Says that a value is an input of the step.
  void addInput(mlir::Value value) { ofInputs.insert(value); }

  /// Before an op gets layouts: if it runs in the micro-batch, its operands
  /// belong to it, other than sums of inputs.
  void joinOperands(mlir::Operation *op);

  /// Says that ops from `first` up to `op` take its place, before any has
  /// layouts.
  void replace(mlir::Operation *op, mlir::Operation *first,
               mlir::ValueRange results);

  /// After an op got layouts.
  void note(mlir::Operation *op);

  /// What a gradient of the micro-batch has left it as; else the value itself.
  mlir::Value getSum(mlir::Value value) const {
    mlir::Value sum = sums.lookup(value);
    return sum ? sum : value;
  }

private:
  void join(mlir::Value value);
  void leave(mlir::Value gradient);
  mlir::Value sum(mlir::Value value, mlir::Operation *user);
  bool isLate(mlir::Value value) const { return late.contains(value); }

  bool isActive;
  /// Known only when micro-batches have been summed, other than from inputs.
  llvm::DenseSet<mlir::Value> late;
  llvm::DenseSet<mlir::Value> ofInputs;
  llvm::DenseMap<mlir::Value, mlir::Value> sums; ///< by gradient
  /// Gradients of parameters, as the step returns them.
  llvm::DenseSet<mlir::Value> gradients;
  /// What the loss, an evaluation and gradients are made by.
  llvm::DenseSet<mlir::Operation *> ofMicrobatch;
};

} // namespace dtc

#endif // DTC_PROPAGATION_SINGLEMICROBATCH_H
