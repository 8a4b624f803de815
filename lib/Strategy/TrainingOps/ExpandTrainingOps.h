//===- ExpandTrainingOps.h - parts of the pass ------------------*- C++ -*-===//
//
// Each function works on `@step` and its loss. They run in this order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_STRATEGY_TRAININGOPS_EXPANDTRAININGOPS_H
#define DTC_LIB_STRATEGY_TRAININGOPS_EXPANDTRAININGOPS_H

#include "dtc/Dialect/StepFunction.h"

namespace dtc {

/// Makes the predictions, if there are any, those of an evaluation: clones the
/// ops that depend on an op with another meaning there.
void cloneForEvaluation(mlir::func::FuncOp step);

/// The groups of samples that share statistics.
struct BatchNormGroups {
  llvm::StringRef statistics; ///< global, micro, local or frozen
  int64_t microbatches;
  int64_t dp;
  int64_t replicas; ///< as for createBatchCount
};

/// Replaces batch norms with sums over the batch and elementwise ops. `@step`
/// returns the new running statistics. Fails with a diagnostic.
mlir::LogicalResult expandBatchNorms(mlir::func::FuncOp step,
                                     const BatchNormGroups &groups);

/// Replaces dropouts with random numbers and selections. Must run after batch
/// norms, because random ops have no operand with the batch and so cannot
/// follow the groups.
void expandDropouts(mlir::func::FuncOp step);

/// Gives random ops of one seed distinct keys instead of ids, so that equal
/// layers become equal kernels.
void keyRandomNumbers(mlir::func::FuncOp step);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_TRAININGOPS_EXPANDTRAININGOPS_H
