//===- PipelineSchedule.h - the order of a pipeline's tasks -----*- C++ -*-===//
//
// A pipeline schedule as plain data, made from a predicate "must this task
// come before that one?" by a generic topological sort. No IR.
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

/// Forward, backward for the stage before, backward for weights.
enum class TaskKind { F, B, W };

/// One task of a stage. With virtual stages, `chunk` says of which: chunk c of
/// stage s of K is virtual stage c K + s of the model.
struct Task {
  TaskKind kind;
  int64_t microbatch;
  int64_t chunk = 0;

  bool operator==(const Task &other) const {
    return kind == other.kind && microbatch == other.microbatch &&
           chunk == other.chunk;
  }
};

/// "F0"; "F0.1" of chunk 1.
std::string printTask(const Task &task);

/// The tasks of each stage, in order.
using PipelineSchedule = std::vector<std::vector<Task>>;

/// What a schedule is for.
struct Pipeline {
  int64_t numStages;       ///< K
  int64_t numMicrobatches; ///< M, of a round
  int64_t numRounds = 1;
  int64_t numChunks = 1; ///< V: virtual stages of each stage
};

/// Where a stage stands in its pipeline.
struct PipelineStage {
  int64_t stage, numStages, numChunks = 1;
};

/// Whether, on a stage, `a` must come before `b`. It need only say so for pairs
/// that imply the others; F, B, W of one micro-batch and chunk come in this
/// order anyway.
using Precedence = llvm::function_ref<bool(const PipelineStage &, const Task &a,
                                           const Task &b)>;

/// Sorts 3 M V tasks for each stage, of one round. None if the precedence has a
/// cycle. Between tasks that may come in any order, the lower micro-batch comes
/// first, in one micro-batch F before B before W, and of these the lower chunk.
std::optional<PipelineSchedule> makeSchedule(const Pipeline &pipeline,
                                             Precedence precedence);

/// Makes `numRounds` rounds of one.
void repeatSchedule(PipelineSchedule &schedule, const Pipeline &pipeline);

/// The most activations that a stage holds at one time, from F to W: of a
/// micro-batch and chunk each.
int64_t getMaxInFlight(llvm::ArrayRef<Task> tasks);

} // namespace dtc

#endif // DTC_SCHEDULE_ORDER_PIPELINESCHEDULE_H
