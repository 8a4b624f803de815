//===- ComposedLosses.h - losses built from tensor ops ----------*- C++ -*-===//
//
// Losses without an op of their own: gradients, layouts and kernels follow from
// the ops that they are built from.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_COMPOSEDLOSSES_H
#define DTC_LIB_TRAINING_COMPOSEDLOSSES_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dtc {

/// A sum over the batch, and what to divide it by for a mean; null for one.
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

/// Cross-entropy of logits [..., classes] by labels [...] with smoothing and
/// weights. The count is that of rows, or the sum of their labels' weights.
LossSum buildWeightedCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                                  mlir::Value logits, mlir::Value labels,
                                  const ClassOptions &options);

/// torch.nn.BCEWithLogitsLoss of two tensors of one type; counts elements.
LossSum buildBinaryCrossEntropy(mlir::ImplicitLocOpBuilder &builder,
                                mlir::Value logits, mlir::Value targets);

} // namespace dtc

#endif // DTC_LIB_TRAINING_COMPOSEDLOSSES_H
