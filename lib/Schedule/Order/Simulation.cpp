//===- Simulation.cpp - simulate a schedule -------------------------------===//
//
// Visits the stages in turn; each runs its next task as soon as it can.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/Order/Simulation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <cassert>
#include <utility>

using namespace dtc;

namespace {

/// Executes a schedule as far as it can run.
struct Execution {
  /// With `awaited`, a stage that has sent the result of a task of this kind
  /// continues only after the previous message of the same chunk is received.
  Execution(const PipelineSchedule &schedule, llvm::ArrayRef<StageCost> costs,
            std::optional<TaskKind> awaited = std::nullopt);

  bool isDone(int64_t stage) const {
    return starts[stage].size() == schedule[stage].size();
  }

  const PipelineSchedule &schedule;
  /// Start of each task.
  std::vector<std::vector<double>> starts;

private:
  bool runNext(int64_t stage);
  /// The virtual stage that needs the result of a task, if any.
  int64_t getReceiver(int64_t at, TaskKind kind) const {
    return kind == TaskKind::F ? at + 1 : kind == TaskKind::B ? at - 1 : -1;
  }
  bool isAwaiting(int64_t stage) const;

  llvm::ArrayRef<StageCost> costs;
  std::optional<TaskKind> awaited;
  std::vector<double> clock;
  /// End of each task by kind, virtual stage and micro-batch; negative before
  /// it has begun.
  std::vector<std::vector<double>> ends[3];
  /// Number of tasks that have run, by kind and virtual stage.
  std::vector<int64_t> count[3];
};

Execution::Execution(const PipelineSchedule &schedule,
                     llvm::ArrayRef<StageCost> costs,
                     std::optional<TaskKind> awaited)
    : schedule(schedule), starts(schedule.size()), costs(costs),
      awaited(awaited), clock(schedule.size(), 0) {
  if (schedule.empty())
    return;
  assert(costs.size() % schedule.size() == 0 && "a cost for each chunk");
  size_t numMicrobatches =
      schedule.front().size() * schedule.size() / (3 * costs.size());
  for (int kind = 0; kind < 3; ++kind) {
    ends[kind].assign(costs.size(), std::vector<double>(numMicrobatches, -1));
    count[kind].assign(costs.size(), 0);
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t stage = 0; stage < schedule.size(); ++stage)
      while (runNext(stage))
        progress = true;
  }
}

/// All stages have the same order of tasks, so counts show which messages have
/// been received.
bool Execution::isAwaiting(int64_t stage) const {
  if (!awaited || starts[stage].empty())
    return false;
  const Task &last = schedule[stage][starts[stage].size() - 1];
  int64_t at = last.chunk * schedule.size() + stage;
  int64_t receiver = getReceiver(at, last.kind);
  if (last.kind != *awaited || receiver < 0 ||
      receiver == static_cast<int64_t>(costs.size()))
    return false;
  const std::vector<int64_t> &done = count[static_cast<int>(last.kind)];
  return done[receiver] + 1 < done[at];
}

bool Execution::runNext(int64_t stage) {
  if (isDone(stage) || isAwaiting(stage))
    return false;
  const Task &task = schedule[stage][starts[stage].size()];
  int64_t at = task.chunk * schedule.size() + stage;
  std::vector<std::vector<double>> &same = ends[static_cast<int>(task.kind)];
  double ready = 0;
  if (task.kind == TaskKind::F && at > 0)
    ready = same[at - 1][task.microbatch];
  else if (task.kind == TaskKind::B && at + 1 < int64_t(costs.size()))
    ready = same[at + 1][task.microbatch];
  if (ready < 0)
    return false;
  starts[stage].push_back(std::max(clock[stage], ready));
  clock[stage] = starts[stage].back() + costs[at].get(task.kind);
  same[at][task.microbatch] = clock[stage];
  ++count[static_cast<int>(task.kind)][at];
  return true;
}

} // namespace

std::optional<Simulation> dtc::simulate(const PipelineSchedule &schedule,
                                        llvm::ArrayRef<StageCost> costs) {
  Simulation result{0, 0, Execution(schedule, costs).starts};
  double busy = 0;
  for (size_t stage = 0; stage < schedule.size(); ++stage) {
    const std::vector<Task> &tasks = schedule[stage];
    if (result.starts[stage].size() != tasks.size())
      return std::nullopt;
    auto getCost = [&](const Task &task) {
      return costs[task.chunk * schedule.size() + stage].get(task.kind);
    };
    for (const Task &task : tasks)
      busy += getCost(task);
    if (!tasks.empty())
      result.makespan = std::max(result.makespan, result.starts[stage].back() +
                                                      getCost(tasks.back()));
  }
  if (result.makespan > 0)
    result.bubble = 1 - busy / (schedule.size() * result.makespan);
  return result;
}

std::optional<Deadlock> dtc::findDeadlock(const PipelineSchedule &schedule,
                                          int64_t numChunks) {
  int64_t numStages = schedule.size();
  std::vector<StageCost> costs(numStages * numChunks, StageCost{1, 1, 1});
  Execution execution(schedule, costs);
  int64_t stage = 0;
  while (stage < numStages && execution.isDone(stage))
    ++stage;
  if (stage == numStages)
    return std::nullopt;
  // A blocked stage waits for a stage that is blocked, too, so following them
  // leads to a cycle.
  std::vector<Deadlock::Blocked> way;
  while (true) {
    auto seen = llvm::find_if(way, [&](const Deadlock::Blocked &blocked) {
      return blocked.stage == stage;
    });
    if (seen != way.end())
      return Deadlock{{seen, way.end()}};
    const Task &task = schedule[stage][execution.starts[stage].size()];
    way.push_back({stage, task});
    int64_t step = task.kind == TaskKind::F ? -1 : 1;
    stage = (stage + numStages + step) % numStages;
  }
}

bool dtc::canAwaitLast(const PipelineSchedule &schedule, TaskKind kind,
                       int64_t numChunks) {
  auto getOrder = [&](const std::vector<Task> &tasks) {
    std::vector<std::pair<int64_t, int64_t>> order;
    for (const Task &task : tasks)
      if (task.kind == kind)
        order.push_back({task.microbatch, task.chunk});
    return order;
  };
  for (const std::vector<Task> &tasks : schedule)
    if (getOrder(tasks) != getOrder(schedule.front()))
      return false;
  std::vector<StageCost> costs(schedule.size() * numChunks, StageCost{1, 1, 1});
  Execution execution(schedule, costs, kind);
  return llvm::all_of(llvm::seq<int64_t>(0, schedule.size()),
                      [&](int64_t stage) { return execution.isDone(stage); });
}
