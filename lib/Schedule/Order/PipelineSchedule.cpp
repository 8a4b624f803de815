//===- PipelineSchedule.cpp - the order of a pipeline's tasks -------------===//
//
// The sort that all schedules share.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/Order/PipelineSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <utility>

using namespace dtc;

std::string dtc::printTask(const Task &task) {
  std::string chunk = task.chunk ? "." + std::to_string(task.chunk) : "";
  return "FBW"[static_cast<int>(task.kind)] + std::to_string(task.microbatch) +
         chunk;
}

/// Repeatedly takes the first task, in the given order, that no remaining task
/// must precede. Returns none if every remaining task has a predecessor. Tasks
/// of a kind have one order: if one of them must precede a task of another
/// kind, so must all earlier ones. So only the first remaining task of each
/// kind is examined.
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
    // Sort by a heap, which is safe even if the predicate is no order.
    std::make_heap(kind.begin(), kind.end(), precedes);
    std::sort_heap(kind.begin(), kind.end(), precedes);
    for (size_t i = 1; i < kind.size(); ++i)
      if (!precedes(kind[i - 1], kind[i]) || precedes(kind[i], kind[i - 1]))
        return std::nullopt;
    std::reverse(kind.begin(), kind.end()); // the next task is at the back
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

/// Two rounds of two micro-batches, with at most two in flight:
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

int64_t dtc::getMaxInFlight(llvm::ArrayRef<Task> tasks) {
  int64_t now = 0, most = 0;
  for (const Task &task : tasks) {
    now += task.kind == TaskKind::F ? 1 : task.kind == TaskKind::W ? -1 : 0;
    most = std::max(most, now);
  }
  return most;
}
