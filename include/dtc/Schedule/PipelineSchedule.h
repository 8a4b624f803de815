//===- PipelineSchedule.h - the order of a pipeline's tasks -----*- C++ -*-===//
//
// A pipeline schedule as plain data, made from a predicate "must this task
// come before that one?" by a generic topological sort. No IR.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_PIPELINESCHEDULE_H
#define DTC_SCHEDULE_PIPELINESCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace dtc {

/// Forward, backward for the stage before, backward for weights.
enum class TaskKind { F, B, W };

/// One task of a stage.
struct Task {
  TaskKind kind;
  int64_t microbatch;

  bool operator==(const Task &other) const {
    return kind == other.kind && microbatch == other.microbatch;
  }
};

/// "F0".
std::string printTask(const Task &task);

/// The tasks of each stage, in order.
using PipelineSchedule = std::vector<std::vector<Task>>;

/// Where a stage stands in its pipeline.
struct PipelineStage {
  int64_t stage, numStages;
};

/// Whether, on a stage, `a` must come before `b`. It need only say so for pairs
/// that imply the others; F, B, W of one micro-batch come in this order anyway.
using Precedence = llvm::function_ref<bool(const PipelineStage &, const Task &a,
                                           const Task &b)>;

bool mustPrecedeInGPipe(const PipelineStage &, const Task &a, const Task &b);
bool mustPrecedeIn1F1B(const PipelineStage &, const Task &a, const Task &b);
bool mustPrecedeInZBH1(const PipelineStage &, const Task &a, const Task &b);

/// Sorts 3 x numMicrobatches tasks for each stage. None if the precedence has
/// a cycle. Between tasks that may come in any order, the lower micro-batch
/// comes first, and in one micro-batch F before B before W.
std::optional<PipelineSchedule>
makeSchedule(int64_t numStages, int64_t numMicrobatches, Precedence precedence);

/// Whether makeNamedSchedule knows it.
bool isNamedSchedule(llvm::StringRef name);

/// The schedule with this name, `gpipe`, `1f1b` or `zb-h1`; none for another
/// name. It runs `numRounds` times, each time on the next `numMicrobatches`; a
/// stage ends one round before it begins the next.
std::optional<PipelineSchedule> makeNamedSchedule(llvm::StringRef name,
                                                  int64_t numStages,
                                                  int64_t numMicrobatches,
                                                  int64_t numRounds = 1);

/// Makes `numRounds` rounds of one of `numMicrobatches`.
void repeatSchedule(PipelineSchedule &schedule, int64_t numMicrobatches,
                    int64_t numRounds);

/// Whether all stages run their Fs in the same order, and their Bs. Then so
/// they send and receive.
bool hasSameOrders(const PipelineSchedule &schedule);

/// Of a named schedule: the idle fraction of a round, which fills and drains
/// once, with equal stages: (K - 1) / (M + K - 1). Of `zb-h1`, where F, B and W
/// take equal times: (K - 1) / (3 M + K - 1) if M >= K.
double getBubbleFraction(llvm::StringRef schedule, int64_t numStages,
                         int64_t numMicrobatches);

/// The most micro-batches that a stage holds activations of at one time: from
/// its F to its W.
int64_t getMaxInFlight(llvm::ArrayRef<Task> tasks);

/// How long the tasks of one stage take, in any unit.
struct StageCost {
  double forward, backward, weight;

  double get(TaskKind kind) const {
    return kind == TaskKind::F   ? forward
           : kind == TaskKind::B ? backward
                                 : weight;
  }
};

struct Simulation {
  double makespan; ///< of the slowest stage
  double bubble;   ///< idle fraction over all stages until then
  /// When each task begins, of each stage in the order of its tasks.
  std::vector<std::vector<double>> starts;
};

/// Executes a schedule: F waits for F of the stage before, B for B of the
/// stage after; messages take no time. None if it stops in a deadlock.
std::optional<Simulation> simulate(const PipelineSchedule &schedule,
                                   llvm::ArrayRef<StageCost> costs);

/// Two tasks that wait for each other: a B of `stage` for that of the stage
/// after, and an F of the latter, which it would run first.
struct Deadlock {
  int64_t stage;
  Task backward, forward;
};

/// None if the schedule can run.
std::optional<Deadlock> findDeadlock(const PipelineSchedule &schedule);

} // namespace dtc

#endif // DTC_SCHEDULE_PIPELINESCHEDULE_H
