//===- StageAnalysis.h - the pipeline stage of every value ------*- C++ -*-===//
//
// Only the boundaries of a step have stage numbers. The stages of all other
// values follow, because an op runs on one stage:
//
// * All operands and results of an op are on one stage. Exceptions: a
//   boundary's operand is on stage `from` and its result on stage `to`; the
//   operands of dtc.sum_over_stages may be on any stages.
// * Inputs, constants and results of dtc.sum_over_stages are known on every
//   stage, as are values that are computed from these alone. Each stage
//   recomputes those that it needs.
// * Parameters and optimizer state are on the stage that owns them.
// * An argument with `dtc.stage` is on that stage.
// * Other values that are connected to no boundary are on stage 0.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_STAGEANALYSIS_H
#define DTC_DIALECT_STAGEANALYSIS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace dtc {

class StageAnalysis {
public:
  /// Fails if ops mix values of different stages, with a diagnostic at each.
  /// There are at least `leastStages`.
  static mlir::FailureOr<StageAnalysis> compute(mlir::func::FuncOp step,
                                                int64_t leastStages = 1);

  /// The stage of a value; none if it is known on every stage.
  std::optional<int64_t> getStage(mlir::Value value) const;

  /// The highest stage plus one.
  int64_t getNumStages() const { return numStages; }

private:
  llvm::DenseMap<mlir::Value, int64_t> stages;
  int64_t numStages = 1;
};

} // namespace dtc

#endif // DTC_DIALECT_STAGEANALYSIS_H
