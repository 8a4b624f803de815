//===- Slices.h - assign ops to phases of stages ----------------*- C++ -*-===//
//
// The analysis behind SplitStages: backward slicing of a step from its results
// over stages and phases. Boundaries have numbers of virtual stages: of K
// stages, stage s holds number c K + s as its chunk c.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_STAGES_SLICES_H
#define DTC_LIB_SCHEDULE_STAGES_SLICES_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/StageAnalysis.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <set>
#include <vector>

namespace dtc {

/// How a value varies over the micro-batches of a step.
enum class Time {
  Once,        ///< one value for the step
  Microbatch,  ///< one value for each micro-batch
  Accumulated, ///< a sum over micro-batches
};
Time getTime(mlir::Value value);

/// A value that crosses stages.
struct Message {
  BoundaryOp boundary;
  int64_t channel; ///< number of the message in the step
  Phase sent;      ///< the phase after which it is sent
  Phase received;  ///< the phase before which it is received
};

class Slices {
public:
  /// Analyses a step. Slices are the only views that may be operands of
  /// boundaries. With `joins`, Backward also has the ops of Weight. Fails with
  /// a diagnostic.
  static mlir::FailureOr<Slices> compute(mlir::func::FuncOp step,
                                         StageAnalysis stages,
                                         int64_t numStages, bool joins);

  int64_t getNumStages() const { return phases.size(); }
  /// Number of chunks of all stages.
  int64_t getNumVirtualStages() const { return stages.getNumStages(); }
  /// The stage that has a value; none if every stage can compute it.
  std::optional<int64_t> getStage(mlir::Value value) const {
    std::optional<int64_t> home = stages.getStage(value);
    return home ? std::optional(*home % getNumStages()) : std::nullopt;
  }
  /// Whether a boundary is between chunks of one stage, so that nothing is
  /// sent.
  bool isLocal(BoundaryOp op) const {
    return op.getFrom() % getNumStages() == op.getTo() % getNumStages();
  }

  /// The phases of a stage that have ops, in order.
  const std::map<Phase, llvm::SetVector<mlir::Operation *>> &
  getPhases(int64_t stage) const {
    return phases[stage];
  }
  /// Whether a value leaves the function of a phase that defines it.
  bool isExported(int64_t stage, Phase phase, mlir::Value value) const {
    auto only = onlyFrom[stage].find(value);
    return exported[stage].contains(value) &&
           (only == onlyFrom[stage].end() || only->second == phase);
  }
  /// Whether an op runs for each micro-batch because it has values of one.
  bool isPerMicrobatch(mlir::Operation &op) const;
  /// Whether a result of an op is a micro-batch's part of a sum.
  bool makesPart(mlir::Operation &op, mlir::Value result) const {
    return isPerMicrobatch(op) && getTime(result) == Time::Accumulated;
  }
  /// Whether a phase accumulates a value over micro-batches.
  bool isSummed(int64_t stage, Phase phase, mlir::Value value) const {
    auto sum = sums[stage].find(value);
    return sum != sums[stage].end() && sum->second == phase;
  }
  /// Whether a micro-batch's part of a sum leaves the function of the phase
  /// that makes it.
  bool isPartExported(int64_t stage, Phase phase, mlir::Value value) const {
    return exportedParts[stage].contains(value) && phase.isChunked();
  }
  /// Whether an op reads a micro-batch's part of a sum instead of the sum.
  bool readsPart(mlir::Operation &op, mlir::Value operand) const {
    return repeated.contains(&op) && getTime(operand) == Time::Accumulated;
  }
  /// Whether the plan of a stage needs an argument of the step.
  bool isUsed(int64_t stage, mlir::Value argument) const {
    return used[stage].contains(argument);
  }
  const std::vector<Message> &getMessages() const { return messages; }
  /// The phase that makes the model's output in each micro-batch.
  Phase getRecordedPhase(mlir::Value value) const {
    return {Phase::Forward, getChunk(value)};
  }

private:
  Slices(StageAnalysis stages, int64_t numStages, bool joins)
      : stages(std::move(stages)), joins(joins), phases(numStages),
        exported(numStages), exportedParts(numStages), used(numStages),
        onlyFrom(numStages), sums(numStages), demands(numStages),
        partDemands(numStages) {}

  using PhaseSet = std::set<Phase>;

  /// The chunk of a value that belongs to a virtual stage.
  unsigned getChunk(mlir::Value value) const {
    return stages.getStage(value).value_or(0) / getNumStages();
  }

  void findRepeated(mlir::Block &body);
  mlir::LogicalResult classify(mlir::Block &body);
  mlir::LogicalResult slice(mlir::Block &body);
  void demand(int64_t stage, mlir::Value value, Phase phase);
  void demandForward(mlir::Operation &op, int64_t stage, unsigned chunk);
  mlir::LogicalResult visit(mlir::Operation &op);
  mlir::LogicalResult visitBoundary(BoundaryOp op);
  mlir::LogicalResult visitSum(SumOverStagesOp op);
  PhaseSet toOwnChunk(mlir::Operation &op, PhaseSet wanted) const;
  bool isEarly(mlir::Operation &op) const;
  PhaseSet place(mlir::Operation &op, int64_t stage);
  Phase placeSum(mlir::Operation &op, int64_t stage, unsigned chunk) const;

  StageAnalysis stages;
  bool joins;
  std::vector<std::map<Phase, llvm::SetVector<mlir::Operation *>>> phases;
  std::vector<llvm::DenseSet<mlir::Value>> exported, exportedParts, used;
  /// For values that several phases make, the only phase that exports them.
  std::vector<llvm::DenseMap<mlir::Value, Phase>> onlyFrom;
  /// The phase that adds up a value over micro-batches.
  std::vector<llvm::DenseMap<mlir::Value, Phase>> sums;
  std::vector<Message> messages;

  /// For each stage, the phases that read a value. For a sum over
  /// micro-batches, only phases that read the sum.
  std::vector<llvm::DenseMap<mlir::Value, PhaseSet>> demands;
  /// The phases that read a micro-batch's part of a sum.
  std::vector<llvm::DenseMap<mlir::Value, PhaseSet>> partDemands;
  /// Ops on sums over micro-batches that run for each of them: those with
  /// `dtc.per_microbatch`, the ops that they depend on, and reshapes that only
  /// they read.
  llvm::DenseSet<mlir::Operation *> repeated;
  /// Values known only after the micro-batches, except for sums of inputs.
  llvm::DenseSet<mlir::Value> late;
  /// Values computed from inputs and constants alone.
  llvm::DenseSet<mlir::Value> fromInputs;
  /// The level of the phase that makes a value: Inputs, or a phase that runs
  /// once. Values of constants alone are computed by each user.
  llvm::DenseMap<mlir::Value, unsigned> levels;
  /// Ops that the loss, an evaluation or a running statistic depends on.
  llvm::DenseSet<mlir::Operation *> forwardSlice;
  /// Ops that the loss depends on.
  llvm::DenseSet<mlir::Operation *> lossSlice;
};

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_STAGES_SLICES_H
