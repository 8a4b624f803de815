//===- Simulation.h - the execution of a schedule ---------------*- C++ -*-===//
//
// How long a schedule takes, and whether its stages wait for each other.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_ORDER_SIMULATION_H
#define DTC_SCHEDULE_ORDER_SIMULATION_H

#include "dtc/Schedule/Order/PipelineSchedule.h"

namespace dtc {

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

/// Whether all stages run their tasks of a kind in the same order, in which
/// they then send and receive, and each may, after it has sent what such a task
/// made, wait until what the same chunk sent before has been received: no
/// stages wait for each other.
bool canAwaitLast(const PipelineSchedule &schedule, TaskKind kind,
                  int64_t numChunks = 1);

} // namespace dtc

#endif // DTC_SCHEDULE_ORDER_SIMULATION_H
