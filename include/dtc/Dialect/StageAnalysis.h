//===- StageAnalysis.h - the pipeline stage of every value ------*- C++ -*-===//
//
// A step carries no stage numbers but those of its boundaries. The stage of
// everything else follows, because an op runs on one stage:
//
// * All operands and results of an op are on one stage, except that a boundary
//   takes its operand on stage `from` and gives its result on stage `to`, and
//   that dtc.sum_over_stages takes operands of any stages.
// * Inputs, constants, results of dtc.sum_over_stages, and what is computed
//   from these alone are known on every stage, and have none of their own:
//   each stage recomputes what it needs of them.
// * Parameters and optimizer state are on the stage that owns them.
// * What no boundary is connected to, a step without boundaries included, is
//   on stage 0.
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
  /// Fails, with a diagnostic at each of them, if ops mix values of different
  /// stages.
  static mlir::FailureOr<StageAnalysis> compute(mlir::func::FuncOp step);

  /// The stage of a value; none if it is known on every stage.
  std::optional<int64_t> getStage(mlir::Value value) const;

  /// One more than the highest stage.
  int64_t getNumStages() const { return numStages; }

private:
  llvm::DenseMap<mlir::Value, int64_t> stages;
  int64_t numStages = 1;
};

} // namespace dtc

#endif // DTC_DIALECT_STAGEANALYSIS_H
