//===- PipelineSchedule.cpp - the order of a pipeline's tasks -------------===//
//
// Each schedule is one predicate on two tasks of a stage; the sort and the
// simulation are common to all.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/PipelineSchedule.h"
#include <algorithm>
#include <utility>

using namespace dtc;

std::string dtc::printTask(const Task &task) {
  return "FBW"[static_cast<int>(task.kind)] + std::to_string(task.microbatch);
}

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

/// ZB-H1 (Qi et al., arXiv 2401.10241): 1F1B, whose W is as many micro-batches
/// late as there are stages before. F and B do not wait for it, and it fills
/// what would be idle at the end. From F to W, each stage holds at most K
/// micro-batches, as the first one does under 1F1B.
///
///   stage 0  F0 F1 F2 .. .. B0 W0 F3 B1 W1 B2 W2 B3 W3
///   stage 1  .. F0 F1 .. B0 F2 B1 W0 F3 B2 W1 B3 W2 W3
///   stage 2  .. .. F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3
bool dtc::mustPrecedeInZBH1(const PipelineStage &where, const Task &a,
                            const Task &b) {
  int64_t ahead = where.numStages - 1 - where.stage;
  // Each turn is one F, one B, one W, as far as there are any.
  auto getTurn = [&](const Task &task) {
    return task.microbatch + (task.kind == TaskKind::F   ? -ahead
                              : task.kind == TaskKind::W ? where.stage
                                                         : 0);
  };
  return std::make_pair(getTurn(a), a.kind) <
         std::make_pair(getTurn(b), b.kind);
}

/// Two rounds of two micro-batches, of which two are in flight at most:
///
///   stage 0  F0 F1 .. .. W0 W1 F2 F3 .. .. W2 W3
///   stage 1  .. F0 F1 BW BW .. .. F2 F3 BW BW ..
void dtc::repeatSchedule(PipelineSchedule &schedule, int64_t numMicrobatches,
                         int64_t numRounds) {
  for (std::vector<Task> &tasks : schedule) {
    size_t count = tasks.size();
    for (int64_t round = 1; round < numRounds; ++round)
      for (size_t i = 0; i < count; ++i)
        tasks.push_back(
            {tasks[i].kind, tasks[i].microbatch + round * numMicrobatches});
  }
}

bool dtc::isNamedSchedule(llvm::StringRef name) {
  return makeNamedSchedule(name, 1, 1).has_value();
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
  else if (name == "zb-h1")
    schedule = makeSchedule(numStages, numMicrobatches, mustPrecedeInZBH1);
  if (schedule)
    repeatSchedule(*schedule, numMicrobatches, numRounds);
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
// What a schedule is like, and what it costs
//===----------------------------------------------------------------------===//

bool dtc::hasSameOrders(const PipelineSchedule &schedule) {
  auto getOrder = [](const std::vector<Task> &tasks, TaskKind kind) {
    std::vector<int64_t> order;
    for (const Task &task : tasks)
      if (task.kind == kind)
        order.push_back(task.microbatch);
    return order;
  };
  for (TaskKind kind : {TaskKind::F, TaskKind::B})
    for (const std::vector<Task> &tasks : schedule)
      if (getOrder(tasks, kind) != getOrder(schedule.front(), kind))
        return false;
  return true;
}

double dtc::getBubbleFraction(llvm::StringRef schedule, int64_t numStages,
                              int64_t numMicrobatches) {
  double busy = numMicrobatches, idle = numStages - 1;
  if (schedule == "zb-h1") {
    // In tasks. With few micro-batches, the first one's way through the
    // pipeline is longer than the work of a stage.
    busy = 3 * numMicrobatches;
    idle += std::max<int64_t>(0, numStages - numMicrobatches);
  }
  return idle / (busy + idle);
}

int64_t dtc::getMaxInFlight(llvm::ArrayRef<Task> tasks) {
  int64_t now = 0, most = 0;
  for (const Task &task : tasks) {
    now += task.kind == TaskKind::F ? 1 : task.kind == TaskKind::W ? -1 : 0;
    most = std::max(most, now);
  }
  return most;
}

/// Executes a schedule as far as it can run, and says when each task begins.
static std::vector<std::vector<double>>
execute(const PipelineSchedule &schedule, llvm::ArrayRef<StageCost> costs) {
  int64_t numStages = schedule.size();
  std::vector<std::vector<double>> starts(numStages);
  if (numStages == 0)
    return starts;
  // When F and B of each stage and micro-batch end; negative before that.
  size_t numMicrobatches = schedule.front().size() / 3;
  using Ends = std::vector<std::vector<double>>;
  Ends forward(numStages, std::vector<double>(numMicrobatches, -1));
  Ends backward = forward;
  std::vector<double> clock(numStages, 0);

  auto runNext = [&](int64_t stage) {
    size_t next = starts[stage].size();
    if (next == schedule[stage].size())
      return false;
    const Task &task = schedule[stage][next];
    double ready = 0;
    if (task.kind == TaskKind::F && stage > 0)
      ready = forward[stage - 1][task.microbatch];
    else if (task.kind == TaskKind::B && stage + 1 < numStages)
      ready = backward[stage + 1][task.microbatch];
    if (ready < 0)
      return false;
    double start = std::max(clock[stage], ready);
    starts[stage].push_back(start);
    clock[stage] = start + costs[stage].get(task.kind);
    if (task.kind == TaskKind::F)
      forward[stage][task.microbatch] = clock[stage];
    else if (task.kind == TaskKind::B)
      backward[stage][task.microbatch] = clock[stage];
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (int64_t stage = 0; stage < numStages; ++stage)
      while (runNext(stage))
        progress = true;
  }
  return starts;
}

std::optional<Simulation> dtc::simulate(const PipelineSchedule &schedule,
                                        llvm::ArrayRef<StageCost> costs) {
  Simulation result{0, 0, execute(schedule, costs)};
  double busy = 0;
  for (size_t stage = 0; stage < schedule.size(); ++stage) {
    const std::vector<Task> &tasks = schedule[stage];
    if (result.starts[stage].size() != tasks.size())
      return std::nullopt;
    for (const Task &task : tasks)
      busy += costs[stage].get(task.kind);
    if (!tasks.empty())
      result.makespan =
          std::max(result.makespan, result.starts[stage].back() +
                                        costs[stage].get(tasks.back().kind));
  }
  if (result.makespan > 0)
    result.bubble = 1 - busy / (schedule.size() * result.makespan);
  return result;
}

std::optional<Deadlock> dtc::findDeadlock(const PipelineSchedule &schedule) {
  std::vector<StageCost> costs(schedule.size(), StageCost{1, 1, 1});
  std::vector<std::vector<double>> starts = execute(schedule, costs);
  auto getBlocked = [&](size_t stage) -> std::optional<Task> {
    if (starts[stage].size() == schedule[stage].size())
      return std::nullopt;
    return schedule[stage][starts[stage].size()];
  };
  // Who is blocked by F waits for the stage before, by B for the stage after:
  // both are blocked, so somewhere two wait for each other.
  for (size_t stage = 0; stage + 1 < schedule.size(); ++stage) {
    std::optional<Task> here = getBlocked(stage), after = getBlocked(stage + 1);
    if (here && here->kind == TaskKind::B && after &&
        after->kind == TaskKind::F)
      return Deadlock{static_cast<int64_t>(stage), *here, *after};
  }
  return std::nullopt;
}
