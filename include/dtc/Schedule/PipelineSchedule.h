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
#include "llvm/Support/Error.h"
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

bool mustPrecedeInGPipe(const PipelineStage &, const Task &a, const Task &b);
bool mustPrecedeIn1F1B(const PipelineStage &, const Task &a, const Task &b);
bool mustPrecedeInInterleaved(const PipelineStage &, const Task &a,
                              const Task &b);
bool mustPrecedeInZBH1(const PipelineStage &, const Task &a, const Task &b);

/// Sorts 3 M V tasks for each stage, of one round. None if the precedence has a
/// cycle. Between tasks that may come in any order, the lower micro-batch comes
/// first, in one micro-batch F before B before W, and of these the lower chunk.
std::optional<PipelineSchedule> makeSchedule(const Pipeline &pipeline,
                                             Precedence precedence);

/// "gpipe, 1f1b, interleaved, zb-h1", which makeNamedSchedule knows.
extern const char *const scheduleNames;
bool isNamedSchedule(llvm::StringRef name);

/// The schedule of this name, which isNamedSchedule. It runs `numRounds` times,
/// each time on the next micro-batches; a stage ends one round before it begins
/// the next. An error is one line: only `gpipe` and `interleaved` have several
/// chunks, and the latter needs a multiple of K micro-batches then.
llvm::Expected<PipelineSchedule> makeNamedSchedule(llvm::StringRef name,
                                                   const Pipeline &pipeline);

/// Makes `numRounds` rounds of one.
void repeatSchedule(PipelineSchedule &schedule, const Pipeline &pipeline);

/// Whether all stages run their tasks of a kind in the same order, in which
/// they then send and receive, and each may, after it has sent what such a task
/// made, wait until what the same chunk sent before has been received: no
/// stages wait for each other.
bool canAwaitLast(const PipelineSchedule &schedule, TaskKind kind,
                  int64_t numChunks = 1);

/// The idle fraction of a round of a named schedule, which fills and drains
/// once, with equal stages: (K - 1) / (V M + K - 1) if M >= K or V = 1. For
/// `zb-h1`, where F, B and W take equal times: (K - 1) / (3 M + K - 1) if M >=
/// K.
double getBubbleFraction(llvm::StringRef schedule, const Pipeline &pipeline);

/// The most activations that a stage holds at one time, from F to W: of a
/// micro-batch and chunk each.
int64_t getMaxInFlight(llvm::ArrayRef<Task> tasks);

/// How long the tasks of one virtual stage take, in any unit.
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

/// Executes a schedule: F waits for F of the virtual stage before, B for B of
/// the one after; messages take no time. `costs` has K V elements, that of
/// chunk c of stage s at c K + s. None if it stops in a deadlock.
std::optional<Simulation> simulate(const PipelineSchedule &schedule,
                                   llvm::ArrayRef<StageCost> costs);

/// Tasks that wait for each other: each is the next one of its stage, and
/// waits for the stage of the one after it in the list; the last one for that
/// of the first.
struct Deadlock {
  struct Blocked {
    int64_t stage;
    Task task;
  };
  std::vector<Blocked> cycle;
};

/// None if the schedule, of so many chunks, can run.
std::optional<Deadlock> findDeadlock(const PipelineSchedule &schedule,
                                     int64_t numChunks = 1);

} // namespace dtc

#endif // DTC_SCHEDULE_PIPELINESCHEDULE_H
