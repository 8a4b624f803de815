//===- ComposedLosses.h - losses and counts of right answers ----*- C++ -*-===//
//
// Losses and counts as sums. Losses without an op of their own are built from
// tensor ops, from which gradients, layouts and kernels follow.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_STRATEGY_COMPOSEDLOSSES_H
#define DTC_STRATEGY_COMPOSEDLOSSES_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dtc {

/// A sum over the batch, and the divisor of its mean; a null divisor is 1.
/// `replicas` is as for createBatchCount.
struct LossSum {
  mlir::Value sum, count;
};

/// The options of torch.nn.CrossEntropyLoss.
struct ClassOptions {
  /// Share of a label that is spread over all classes.
  double smoothing = 0;
  /// A weight for each class; empty: all weights are 1.
  llvm::ArrayRef<double> weights;
  /// Rows with this label do not count.
  std::optional<int64_t> ignored;
};

/// Cross-entropy of logits [..., classes] and labels [...]. The divisor is the
/// number of labels that are not ignored.
LossSum buildCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                          mlir::Value logits, mlir::Value labels,
                          std::optional<int64_t> ignored, int64_t replicas);

/// Cross-entropy of logits [..., classes] and labels [...] with smoothing and
/// weights. The divisor is the number of rows, or the sum of the weights of
/// their labels.
LossSum buildWeightedCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                                  mlir::Value logits, mlir::Value labels,
                                  const ClassOptions &options,
                                  int64_t replicas);

/// torch.nn.BCEWithLogitsLoss of two tensors of one type. The divisor is the
/// number of elements.
LossSum buildBinaryCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                                mlir::Value logits, mlir::Value targets,
                                int64_t replicas);

/// Squared differences of two tensors of one type. The divisor is the number of
/// elements.
LossSum buildSquaredError(mlir::ImplicitLocOpBuilder &builder,
                          mlir::Value prediction, mlir::Value target,
                          int64_t replicas);

/// Sum of the elements of a tensor, each one a loss. A tensor with one element
/// has no divisor.
LossSum buildElementSum(mlir::ImplicitLocOpBuilder &builder, mlir::Value x,
                        int64_t replicas);

/// Counts of predictions over the batch, for an evaluation. A null value is not
/// counted.
struct ClassCounts {
  /// tensor<f64>: number of right predictions, and of labels among the five
  /// most likely classes.
  mlir::Value numRight, numInTop5;
  /// tensor<Cxf64>, for each class: number of right predictions, of
  /// predictions, and of labels.
  mlir::Value hits, predicted, labels;
};

/// Counts for logits with one label in each row. A prediction is right if the
/// label's logit is larger than those of all other classes, so a tie is wrong.
ClassCounts countClasses(mlir::ImplicitLocOpBuilder &builder,
                         mlir::Value logits, mlir::Value labels,
                         std::optional<int64_t> ignored, bool inTop5,
                         bool byClass);

/// Counts for one logit and one target, 0 or 1, of each class.
ClassCounts countSigns(mlir::ImplicitLocOpBuilder &builder, mlir::Value logits,
                       mlir::Value targets, bool byClass);

} // namespace dtc

#endif // DTC_STRATEGY_COMPOSEDLOSSES_H
