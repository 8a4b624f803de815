//===- Simulation.h - simulate a schedule -----------------------*- C++ -*-===//
//
// Computes the duration of a schedule, and finds deadlocks between its stages.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_ORDER_SIMULATION_H
#define DTC_SCHEDULE_ORDER_SIMULATION_H

#include "dtc/Schedule/Order/PipelineSchedule.h"

namespace dtc {

/// Durations of the tasks of one virtual stage, in any unit.
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
  double bubble;   ///< idle fraction of all stages until then
  /// Start of each task, by stage in the order of its tasks.
  std::vector<std::vector<double>> starts;
};

/// Simulates a schedule. F waits for F of the previous virtual stage, B for B
/// of the next one; messages take no time. `costs` has K V elements; that of
/// chunk c of stage s is at c K + s. Returns none on a deadlock.
std::optional<Simulation> simulate(const PipelineSchedule &schedule,
                                   llvm::ArrayRef<StageCost> costs);

/// A cycle of tasks. Each is the next task of its stage and waits for the stage
/// of the next one in the list; the last waits for the stage of the first.
struct Deadlock {
  struct Blocked {
    int64_t stage;
    Task task;
  };
  std::vector<Blocked> cycle;
};

/// Returns a deadlock of a schedule with `numChunks` chunks; none if it can
/// run.
std::optional<Deadlock> findDeadlock(const PipelineSchedule &schedule,
                                     int64_t numChunks = 1);

/// Whether a stage may wait, after it has sent the result of a task of this
/// kind, until the previous message of the same chunk has been received. This
/// holds if all stages run the tasks of the kind, and so their messages, in the
/// same order and the wait causes no deadlock.
bool canAwaitLast(const PipelineSchedule &schedule, TaskKind kind,
                  int64_t numChunks = 1);

} // namespace dtc

#endif // DTC_SCHEDULE_ORDER_SIMULATION_H
