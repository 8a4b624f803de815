//===- SingleMicrobatch.h - values of a step's only micro-batch -*- C++ -*-===//
//
// With one micro-batch, a sum over micro-batches is the value itself, so any op
// of the micro-batch may use it. This class decides which summed values, and
// which values known only at the end of the step, belong to the micro-batch
// instead.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PROPAGATION_SINGLEMICROBATCH_H
#define DTC_PROPAGATION_SINGLEMICROBATCH_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Tracks the propagation of layouts through a step, op by op.
class SingleMicrobatch {
public:
  SingleMicrobatch(mlir::func::FuncOp step, MeshAttr mesh);

  /// Whether a value depends on inputs and constants alone. A sum of such
  /// values is known before the micro-batch runs.
  bool isOfInputs(mlir::Value value) const { return ofInputs.contains(value); }

  /// Marks a value as an input of the step.
  void addInput(mlir::Value value) { ofInputs.insert(value); }

  /// Call before an op gets layouts. If the op runs in the micro-batch, its
  /// operands join the micro-batch, except for sums of inputs.
  void joinOperands(mlir::Operation *op);

  /// Records that the ops from `first` up to `op` replace it. Call before they
  /// have layouts.
  void replace(mlir::Operation *op, mlir::Operation *first,
               mlir::ValueRange results);

  /// Call after an op has got layouts.
  void note(mlir::Operation *op);

  /// The sum of a gradient outside the micro-batch; else the value itself.
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
  /// Values known only after micro-batches are summed, except for sums of
  /// inputs.
  llvm::DenseSet<mlir::Value> late;
  llvm::DenseSet<mlir::Value> ofInputs;
  llvm::DenseMap<mlir::Value, mlir::Value> sums; ///< by gradient
  /// Gradients of parameters, as the step returns them.
  llvm::DenseSet<mlir::Value> gradients;
  /// Ops that the loss, an evaluation and gradients depend on.
  llvm::DenseSet<mlir::Operation *> ofMicrobatch;
};

} // namespace dtc

#endif // DTC_PROPAGATION_SINGLEMICROBATCH_H
