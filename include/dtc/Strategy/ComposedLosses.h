//===- ComposedLosses.h - losses and right answers --------------*- C++ -*-===//
//
// Losses and counts as sums. Those without an op of their own are built from
// tensor ops, from which gradients, layouts and kernels follow.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_STRATEGY_COMPOSEDLOSSES_H
#define DTC_STRATEGY_COMPOSEDLOSSES_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dtc {

/// A sum over the batch, and what to divide it by for a mean; null for one.
/// `replicas` is as for createBatchCount.
struct LossSum {
  mlir::Value sum, count;
};

/// What torch.nn.CrossEntropyLoss has beyond its default.
struct ClassOptions {
  /// Share of a label that is spread over all classes.
  double smoothing = 0;
  /// One for each class, or empty: all are one.
  llvm::ArrayRef<double> weights;
  /// Rows with this label do not count.
  std::optional<int64_t> ignored;
};

/// Cross-entropy of logits [..., classes] by labels [...]; counts the labels
/// that are not ignored.
LossSum buildCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                          mlir::Value logits, mlir::Value labels,
                          std::optional<int64_t> ignored, int64_t replicas);

/// Cross-entropy of logits [..., classes] by labels [...] with smoothing and
/// weights. The count is that of rows, or the sum of their labels' weights.
LossSum buildWeightedCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                                  mlir::Value logits, mlir::Value labels,
                                  const ClassOptions &options,
                                  int64_t replicas);

/// torch.nn.BCEWithLogitsLoss of two tensors of one type; counts elements.
LossSum buildBinaryCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                                mlir::Value logits, mlir::Value targets,
                                int64_t replicas);

/// Squared differences of two tensors of one type; counts elements.
LossSum buildSquaredError(mlir::ImplicitLocOpBuilder &builder,
                          mlir::Value prediction, mlir::Value target,
                          int64_t replicas);

/// The elements of a tensor, each a loss; no count if there is but one.
LossSum buildElementSum(mlir::ImplicitLocOpBuilder &builder, mlir::Value x,
                        int64_t replicas);

/// Counts of predictions over the batch, for an evaluation. Null: not counted.
struct ClassCounts {
  /// tensor<f64>: labels that are predicted; labels among the five most likely
  /// classes.
  mlir::Value numRight, numInTop5;
  /// tensor<Cxf64>, for each class: labels that are predicted, predictions,
  /// labels.
  mlir::Value hits, predicted, labels;
};

/// A label is right if its logit is larger than those of all other classes, so
/// a tie is wrong.
ClassCounts countClasses(mlir::ImplicitLocOpBuilder &builder,
                         mlir::Value logits, mlir::Value labels,
                         std::optional<int64_t> ignored, bool inTop5,
                         bool byClass);

/// The same for one logit and one target, 0 or 1, of each class.
ClassCounts countSigns(mlir::ImplicitLocOpBuilder &builder, mlir::Value logits,
                       mlir::Value targets, bool byClass);

} // namespace dtc

#endif // DTC_STRATEGY_COMPOSEDLOSSES_H
