//===- PipelineSchedule.cpp - the order of a pipeline's tasks -------------===//
//
// Each schedule is one predicate on two tasks of a stage; the sort and the
// simulation are common to all.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/PipelineSchedule.h"
#include <algorithm>
#include <numeric>

using namespace dtc;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// All forwards, then all backwards (Huang et al., arXiv 1811.06965).
///
///   stage 0  F0 F1 F2 F3 .. .. W0 W1 W2 W3
///   stage 1  .. F0 F1 F2 F3 BW BW BW BW ..
bool dtc::mustPrecedeInGPipe(const PipelineStage &, const Task &a,
                             const Task &b) {
  if (a.kind == TaskKind::F)
    return b.kind != TaskKind::F || a.microbatch < b.microbatch;
  return b.kind != TaskKind::F && a.microbatch < b.microbatch;
}

/// One forward, one backward, once the pipeline is full (Narayanan et al.,
/// arXiv 2006.09503). Stage s of K runs K - 1 - s forwards ahead, so that it
/// holds at most K - s micro-batches.
///
///   stage 0  F0 F1 .. W0 F2 W1 F3 W2 .. W3
///   stage 1  .. F0 BW F1 BW F2 BW F3 BW ..
bool dtc::mustPrecedeIn1F1B(const PipelineStage &where, const Task &a,
                            const Task &b) {
  int64_t ahead = where.numStages - 1 - where.stage;
  bool aIsForward = a.kind == TaskKind::F, bIsForward = b.kind == TaskKind::F;
  if (aIsForward == bIsForward)
    return a.microbatch < b.microbatch;
  if (aIsForward)
    return a.microbatch <= b.microbatch + ahead;
  return a.microbatch + ahead < b.microbatch;
}

/// Two rounds of two micro-batches, of which two are in flight at most:
///
///   stage 0  F0 F1 .. .. W0 W1 F2 F3 .. .. W2 W3
///   stage 1  .. F0 F1 BW BW .. .. F2 F3 BW BW ..
static void repeat(std::vector<Task> &tasks, int64_t numMicrobatches,
                   int64_t numRounds) {
  size_t count = tasks.size();
  for (int64_t round = 1; round < numRounds; ++round)
    for (size_t i = 0; i < count; ++i)
      tasks.push_back(
          {tasks[i].kind, tasks[i].microbatch + round * numMicrobatches});
}

std::optional<PipelineSchedule> dtc::makeNamedSchedule(llvm::StringRef name,
                                                       int64_t numStages,
                                                       int64_t numMicrobatches,
                                                       int64_t numRounds) {
  std::optional<PipelineSchedule> schedule;
  if (name == "gpipe")
    schedule = makeSchedule(numStages, numMicrobatches, mustPrecedeInGPipe);
  else if (name == "1f1b")
    schedule = makeSchedule(numStages, numMicrobatches, mustPrecedeIn1F1B);
  if (schedule)
    for (std::vector<Task> &tasks : *schedule)
      repeat(tasks, numMicrobatches, numRounds);
  return schedule;
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Takes the first task, in the order given, that no other task left must
/// precede. None if there is always one.
static std::optional<std::vector<Task>>
sortTasks(std::vector<Task> tasks,
          llvm::function_ref<bool(const Task &, const Task &)> mustPrecede) {
  size_t count = tasks.size();
  std::vector<unsigned> blockers(count, 0);
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j)
      if (i != j && mustPrecede(tasks[j], tasks[i]))
        ++blockers[i];
  std::vector<bool> done(count, false);
  std::vector<Task> sorted;
  while (sorted.size() < count) {
    size_t next = 0;
    while (next < count && (done[next] || blockers[next] > 0))
      ++next;
    if (next == count)
      return std::nullopt;
    done[next] = true;
    sorted.push_back(tasks[next]);
    for (size_t i = 0; i < count; ++i)
      if (!done[i] && mustPrecede(tasks[next], tasks[i]))
        --blockers[i];
  }
  return sorted;
}

std::optional<PipelineSchedule> dtc::makeSchedule(int64_t numStages,
                                                  int64_t numMicrobatches,
                                                  Precedence precedence) {
  std::vector<Task> tasks;
  for (int64_t m = 0; m < numMicrobatches; ++m)
    for (TaskKind kind : {TaskKind::F, TaskKind::B, TaskKind::W})
      tasks.push_back({kind, m});
  PipelineSchedule schedule;
  for (int64_t stage = 0; stage < numStages; ++stage) {
    PipelineStage where{stage, numStages};
    auto sorted = sortTasks(tasks, [&](const Task &a, const Task &b) {
      if (a.microbatch == b.microbatch)
        return a.kind < b.kind;
      return precedence(where, a, b);
    });
    if (!sorted)
      return std::nullopt;
    schedule.push_back(std::move(*sorted));
  }
  return schedule;
}

//===----------------------------------------------------------------------===//
// What a schedule costs
//===----------------------------------------------------------------------===//

double dtc::getBubbleFraction(int64_t numStages, int64_t numMicrobatches) {
  return static_cast<double>(numStages - 1) /
         static_cast<double>(numMicrobatches + numStages - 1);
}

int64_t dtc::getMaxInFlight(llvm::ArrayRef<Task> tasks) {
  int64_t now = 0, most = 0;
  for (const Task &task : tasks) {
    now += task.kind == TaskKind::F ? 1 : task.kind == TaskKind::W ? -1 : 0;
    most = std::max(most, now);
  }
  return most;
}

std::optional<Simulation> dtc::simulate(const PipelineSchedule &schedule,
                                        llvm::ArrayRef<StageCost> costs) {
  int64_t numStages = schedule.size();
  if (numStages == 0)
    return Simulation{0, 0};
  // When F and B of each stage and micro-batch end; negative before that.
  size_t numMicrobatches = schedule.front().size() / 3;
  using Ends = std::vector<std::vector<double>>;
  Ends forward(numStages, std::vector<double>(numMicrobatches, -1));
  Ends backward = forward;
  std::vector<size_t> next(numStages, 0);
  std::vector<double> clock(numStages, 0);

  auto runNext = [&](int64_t stage) {
    if (next[stage] == schedule[stage].size())
      return false;
    const Task &task = schedule[stage][next[stage]];
    double ready = 0, cost = costs[stage].weight;
    if (task.kind == TaskKind::F) {
      ready = stage > 0 ? forward[stage - 1][task.microbatch] : 0;
      cost = costs[stage].forward;
    } else if (task.kind == TaskKind::B) {
      ready = stage + 1 < numStages ? backward[stage + 1][task.microbatch] : 0;
      cost = costs[stage].backward;
    }
    if (ready < 0)
      return false;
    clock[stage] = std::max(clock[stage], ready) + cost;
    if (task.kind == TaskKind::F)
      forward[stage][task.microbatch] = clock[stage];
    else if (task.kind == TaskKind::B)
      backward[stage][task.microbatch] = clock[stage];
    ++next[stage];
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (int64_t stage = 0; stage < numStages; ++stage)
      while (runNext(stage))
        progress = true;
  }

  double busy = 0;
  for (int64_t stage = 0; stage < numStages; ++stage) {
    if (next[stage] != schedule[stage].size())
      return std::nullopt;
    for (const Task &task : schedule[stage])
      busy += task.kind == TaskKind::F   ? costs[stage].forward
              : task.kind == TaskKind::B ? costs[stage].backward
                                         : costs[stage].weight;
  }
  double makespan = *std::max_element(clock.begin(), clock.end());
  double bubble = makespan > 0 ? 1 - busy / (numStages * makespan) : 0;
  return Simulation{makespan, bubble};
}
