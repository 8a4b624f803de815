//===- PipelineSchedule.cpp - the order of a pipeline's tasks -------------===//
//
// Each schedule is one predicate on two tasks of a stage; the sort and the
// simulation are common to all.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/PipelineSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <array>
#include <utility>

using namespace dtc;

std::string dtc::printTask(const Task &task) {
  std::string chunk = task.chunk ? "." + std::to_string(task.chunk) : "";
  return "FBW"[static_cast<int>(task.kind)] + std::to_string(task.microbatch) +
         chunk;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// All forwards, then all backwards (Huang et al., arXiv 1811.06965).
///
///   stage 0  F0 F1 F2 F3 .. .. W0 W1 W2 W3
///   stage 1  .. F0 F1 F2 F3 BW BW BW BW ..
///
/// Chunks follow each other, all micro-batches of one before the next
/// (Lamy-Poirier, arXiv 2211.05953):
///
///   stage 0  F0   F1   F0.1 F1.1 ..   ..   W0.1 W1.1 W0 W1
///   stage 1  ..   F0   F1   F0.1 F1.1 BW.1 BW.1 BW   BW ..
bool dtc::mustPrecedeInGPipe(const PipelineStage &, const Task &a,
                             const Task &b) {
  if (a.kind == TaskKind::F)
    return b.kind != TaskKind::F || std::make_pair(a.chunk, a.microbatch) <
                                        std::make_pair(b.chunk, b.microbatch);
  return b.kind != TaskKind::F && std::make_pair(-a.chunk, a.microbatch) <
                                      std::make_pair(-b.chunk, b.microbatch);
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

/// 1F1B on virtual stages (Narayanan et al., arXiv 2104.04473). Micro-batches
/// go through in groups of K, all of a group through one chunk before the next.
/// Stage s of K runs 2 (K - 1 - s) + (V - 1) K forwards ahead. Two stages, two
/// chunks, two micro-batches:
///
///   stage 0  F0   F1   F0.1 F1.1 ..   W0.1 ..   W1.1 W0   W1
///   stage 1  ..   F0   F1   F0.1 BW.1 F1.1 BW.1 BW   BW   ..
///
/// With one chunk it is 1F1B, which runs fewer forwards ahead.
bool dtc::mustPrecedeInInterleaved(const PipelineStage &where, const Task &a,
                                   const Task &b) {
  int64_t numStages = where.numStages, numChunks = where.numChunks;
  if (numChunks == 1)
    return mustPrecedeIn1F1B(where, a, b);
  int64_t ahead =
      2 * (numStages - 1 - where.stage) + (numChunks - 1) * numStages;
  // The how manieth F, or B, of the stage it is.
  auto getTurn = [&](const Task &task) {
    int64_t chunk =
        task.kind == TaskKind::F ? task.chunk : numChunks - 1 - task.chunk;
    return (task.microbatch / numStages * numChunks + chunk) * numStages +
           task.microbatch % numStages;
  };
  bool aIsForward = a.kind == TaskKind::F, bIsForward = b.kind == TaskKind::F;
  if (aIsForward == bIsForward)
    return getTurn(a) < getTurn(b);
  if (aIsForward)
    return getTurn(a) <= getTurn(b) + ahead;
  return getTurn(a) + ahead < getTurn(b);
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
void dtc::repeatSchedule(PipelineSchedule &schedule, const Pipeline &pipeline) {
  for (std::vector<Task> &tasks : schedule) {
    size_t count = tasks.size();
    for (int64_t round = 1; round < pipeline.numRounds; ++round)
      for (size_t i = 0; i < count; ++i) {
        Task task = tasks[i];
        task.microbatch += round * pipeline.numMicrobatches;
        tasks.push_back(task);
      }
  }
}

namespace {
struct NamedSchedule {
  const char *name;
  bool (*mustPrecede)(const PipelineStage &, const Task &, const Task &);
};
} // namespace

const char *const dtc::scheduleNames = "gpipe, 1f1b, interleaved, zb-h1";

static const NamedSchedule *findNamedSchedule(llvm::StringRef name) {
  static constexpr NamedSchedule all[] = {
      {"gpipe", mustPrecedeInGPipe},
      {"1f1b", mustPrecedeIn1F1B},
      {"interleaved", mustPrecedeInInterleaved},
      {"zb-h1", mustPrecedeInZBH1}};
  const NamedSchedule *found = llvm::find_if(
      all, [&](const NamedSchedule &entry) { return name == entry.name; });
  return found == std::end(all) ? nullptr : found;
}

bool dtc::isNamedSchedule(llvm::StringRef name) {
  return findNamedSchedule(name) != nullptr;
}

llvm::Expected<PipelineSchedule>
dtc::makeNamedSchedule(llvm::StringRef name, const Pipeline &pipeline) {
  using llvm::Twine;
  int64_t numStages = pipeline.numStages;
  if (pipeline.numChunks > 1) {
    if (name != "gpipe" && name != "interleaved")
      return llvm::createStringError(
          "schedule '" + Twine(name) + "' has one virtual stage a stage, not " +
          Twine(pipeline.numChunks) + "; use --schedule interleaved or gpipe");
    if (name == "interleaved" && pipeline.numMicrobatches % numStages)
      return llvm::createStringError(
          "schedule 'interleaved' takes micro-batches in groups of --pp: " +
          Twine(pipeline.numMicrobatches) + " found, expected a multiple of " +
          Twine(numStages));
  }
  auto schedule = makeSchedule(pipeline, findNamedSchedule(name)->mustPrecede);
  repeatSchedule(*schedule, pipeline);
  return std::move(*schedule);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Takes the first task, in the order given, that no other task left must
/// precede. None if there is always one. Each kind of tasks has one order, and
/// who goes before a later one goes before an earlier one too: so only the
/// first one left of each kind is looked at.
static std::optional<std::vector<Task>>
sortTasks(llvm::ArrayRef<Task> tasks,
          llvm::function_ref<bool(const Task &, const Task &)> mustPrecede) {
  auto precedes = [&](size_t a, size_t b) {
    return mustPrecede(tasks[a], tasks[b]);
  };
  std::array<std::vector<size_t>, 3> kinds;
  for (size_t i = 0; i < tasks.size(); ++i)
    kinds[static_cast<int>(tasks[i].kind)].push_back(i);
  for (std::vector<size_t> &kind : kinds) {
    // By a heap, which a predicate that is no order can do no harm.
    std::make_heap(kind.begin(), kind.end(), precedes);
    std::sort_heap(kind.begin(), kind.end(), precedes);
    for (size_t i = 1; i < kind.size(); ++i)
      if (!precedes(kind[i - 1], kind[i]) || precedes(kind[i], kind[i - 1]))
        return std::nullopt;
    std::reverse(kind.begin(), kind.end()); // the first one left is the last
  }
  std::vector<Task> sorted;
  while (sorted.size() < tasks.size()) {
    std::vector<size_t> *next = nullptr;
    for (std::vector<size_t> &kind : kinds) {
      if (kind.empty() || (next && next->back() < kind.back()))
        continue;
      bool isBlocked = llvm::any_of(kinds, [&](std::vector<size_t> &other) {
        return &other != &kind && !other.empty() &&
               precedes(other.back(), kind.back());
      });
      if (!isBlocked)
        next = &kind;
    }
    if (!next)
      return std::nullopt;
    sorted.push_back(tasks[next->back()]);
    next->pop_back();
  }
  return sorted;
}

std::optional<PipelineSchedule> dtc::makeSchedule(const Pipeline &pipeline,
                                                  Precedence precedence) {
  std::vector<Task> tasks;
  for (int64_t m = 0; m < pipeline.numMicrobatches; ++m)
    for (TaskKind kind : {TaskKind::F, TaskKind::B, TaskKind::W})
      for (int64_t chunk = 0; chunk < pipeline.numChunks; ++chunk)
        tasks.push_back({kind, m, chunk});
  PipelineSchedule schedule;
  for (int64_t stage = 0; stage < pipeline.numStages; ++stage) {
    PipelineStage where{stage, pipeline.numStages, pipeline.numChunks};
    auto sorted = sortTasks(tasks, [&](const Task &a, const Task &b) {
      if (a.microbatch == b.microbatch && a.chunk == b.chunk)
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

double dtc::getBubbleFraction(llvm::StringRef schedule,
                              const Pipeline &pipeline) {
  auto [numStages, numMicrobatches, numRounds, numChunks] = pipeline;
  double busy = numChunks * numMicrobatches, idle = numStages - 1;
  if (schedule == "zb-h1") {
    // In tasks. With few micro-batches, the first one's way through the
    // pipeline is longer than the work of a stage.
    busy = 3 * numMicrobatches;
    idle += std::max<int64_t>(0, numStages - numMicrobatches);
  } else if (schedule == "gpipe") {
    // The next chunk waits for the first micro-batch to come around.
    idle += (numChunks - 1) * std::max<int64_t>(0, numStages - numMicrobatches);
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

namespace {

/// Executes a schedule as far as it can run.
struct Execution {
  /// With `awaited`, a stage that has sent what a task of this kind made goes
  /// on only when what the same chunk sent before has been received.
  Execution(const PipelineSchedule &schedule, llvm::ArrayRef<StageCost> costs,
            std::optional<TaskKind> awaited = std::nullopt);

  bool isDone(int64_t stage) const {
    return starts[stage].size() == schedule[stage].size();
  }

  const PipelineSchedule &schedule;
  /// When each task begins.
  std::vector<std::vector<double>> starts;

private:
  bool runNext(int64_t stage);
  /// The virtual stage that needs what a task makes, if there is one.
  int64_t getReceiver(int64_t at, TaskKind kind) const {
    return kind == TaskKind::F ? at + 1 : kind == TaskKind::B ? at - 1 : -1;
  }
  bool isAwaiting(int64_t stage) const;

  llvm::ArrayRef<StageCost> costs;
  std::optional<TaskKind> awaited;
  std::vector<double> clock;
  /// By kind, virtual stage and micro-batch: when the task ends; negative
  /// before it has begun.
  std::vector<std::vector<double>> ends[3];
  /// By kind and virtual stage.
  std::vector<int64_t> count[3];
};

Execution::Execution(const PipelineSchedule &schedule,
                     llvm::ArrayRef<StageCost> costs,
                     std::optional<TaskKind> awaited)
    : schedule(schedule), starts(schedule.size()), costs(costs),
      awaited(awaited), clock(schedule.size(), 0) {
  if (schedule.empty())
    return;
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

/// In the same order of tasks everywhere, which of them have been received is a
/// matter of numbers.
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
  // Whom a blocked stage waits for has not come there, so it is blocked too:
  // somewhere the way goes in a circle.
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
