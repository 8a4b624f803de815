//===- PipelineSchedule.h - the order of a pipeline's tasks -----*- C++ -*-===//
//
// A pipeline schedule as plain data. A generic topological sort builds it from
// a predicate "must this task come before that one?". Uses no IR.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_ORDER_PIPELINESCHEDULE_H
#define DTC_SCHEDULE_ORDER_PIPELINESCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace dtc {

/// Forward pass, gradients of activations, gradients of weights.
enum class TaskKind { F, B, W };

/// One task of a stage. With virtual stages, `chunk` selects the virtual stage:
/// chunk c of stage s of K is virtual stage c K + s of the model.
struct Task {
  TaskKind kind;
  int64_t microbatch;
  int64_t chunk = 0;

  bool operator==(const Task &other) const {
    return kind == other.kind && microbatch == other.microbatch &&
           chunk == other.chunk;
  }
};

/// Prints "F0", or "F0.1" for chunk 1.
std::string printTask(const Task &task);

/// The tasks of each stage, in order.
using PipelineSchedule = std::vector<std::vector<Task>>;

/// The sizes of a pipeline.
struct Pipeline {
  int64_t numStages;       ///< K
  int64_t numMicrobatches; ///< M, in a round
  int64_t numRounds = 1;
  int64_t numChunks = 1; ///< V: virtual stages of each stage
};

/// The position of a stage in its pipeline.
struct PipelineStage {
  int64_t stage, numStages, numChunks = 1;
};

/// Whether `a` must come before `b` on a stage. The predicate may cover only
/// pairs that imply the others. F, B, W of one micro-batch and chunk always
/// come in this order.
using Precedence = llvm::function_ref<bool(const PipelineStage &, const Task &a,
                                           const Task &b)>;

/// Sorts the 3 M V tasks of one round for each stage. Returns none if the
/// precedence has a cycle. Unordered tasks are sorted by micro-batch, then F
/// before B before W, then by chunk.
std::optional<PipelineSchedule> makeSchedule(const Pipeline &pipeline,
                                             Precedence precedence);

/// Extends a schedule of one round to `numRounds` rounds.
void repeatSchedule(PipelineSchedule &schedule, const Pipeline &pipeline);

/// The most activations that a stage holds at one time, each from F to W of one
/// micro-batch and chunk.
int64_t getMaxInFlight(llvm::ArrayRef<Task> tasks);

} // namespace dtc

#endif // DTC_SCHEDULE_ORDER_PIPELINESCHEDULE_H
