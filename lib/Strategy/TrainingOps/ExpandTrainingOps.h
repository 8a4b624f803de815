//===- ExpandTrainingOps.h - parts of the pass ------------------*- C++ -*-===//
//
// Each works on `@step` and its loss; in this order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_STRATEGY_TRAININGOPS_EXPANDTRAININGOPS_H
#define DTC_LIB_STRATEGY_TRAININGOPS_EXPANDTRAININGOPS_H

#include "dtc/Dialect/StepFunction.h"

namespace dtc {

/// The predictions, if there are any, become those of an evaluation: of a clone
/// of what depends on ops that compute something else there.
void cloneForEvaluation(mlir::func::FuncOp step);

/// Whose statistics normalise a batch.
struct BatchNormGroups {
  llvm::StringRef statistics; ///< global, micro, local or frozen
  int64_t microbatches;
  int64_t dp;
  int64_t replicas; ///< as for createBatchCount
};

/// Batch norms become sums over the batch and elementwise ops, and `@step`
/// returns the new running statistics.
mlir::LogicalResult expandBatchNorms(mlir::func::FuncOp step,
                                     const BatchNormGroups &groups);

/// Dropouts become random numbers and selections. After batches are in groups,
/// which ops without the batch among their operands do not follow.
void expandDropouts(mlir::func::FuncOp step);

/// Random ops of one seed are told apart by their keys instead of their ids, so
/// that layers that are alike become equal kernels.
void keyRandomNumbers(mlir::func::FuncOp step);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_TRAININGOPS_EXPANDTRAININGOPS_H
