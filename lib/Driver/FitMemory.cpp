//===- FitMemory.cpp - the search for a plan that fits memory -------------===//
//
// See FitMemory.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Driver/FitMemory.h"
#include "dtc/Options/ReadOption.h"
#include "dtc/Schedule/Order/NamedSchedules.h"
#include "dtc/Training/Synchronization.h"

using namespace mlir;
using namespace dtc;

using Options = decltype(MemoryFit::options);

static Strategy apply(Strategy strategy, const Options &options) {
  Strategy::visit(strategy, [&](const OptionRow &row, auto &field) {
    auto found = options.find(row.name);
    if (found != options.end())
      llvm::cantFail(readOption(row, found->second, field));
  });
  return strategy;
}

/// The steps to try, each on top of those before. Steps that cost no time come
/// first.
static SmallVector<Options::value_type> listSteps(const FitProblem &problem) {
  const ParallelOptions &plan = problem.strategy.parallel;
  const ScheduleOptions &schedule = problem.strategy.schedule;
  SmallVector<Options::value_type> steps;
  if (plan.pp > 1 &&
      (schedule.schedule == "gpipe" || schedule.schedule == "zb-h1"))
    steps.push_back(
        {"schedule", schedule.virtualStages > 1 ? "interleaved" : "1f1b"});
  if (plan.tp > 1 && !plan.sp)
    steps.push_back({"sp", ""});
  if (schedule.recompute == "none")
    steps.push_back({"recompute", "selective"});
  // ZeRO splits neither over replicas whose number is open nor over those that
  // train apart.
  bool areReplicasWhole = plan.replicasAtLaunch || countPositions(plan) > 1;
  int64_t splitters = areReplicasWhole ? plan.hsdp : plan.dp;
  for (int64_t zero = plan.zero + 1; splitters > 1 && zero <= 3; ++zero)
    steps.push_back({"zero", std::to_string(zero)});
  if (schedule.recompute != "all")
    steps.push_back({"recompute", "all"});
  int64_t samples = problem.globalBatch / plan.dp /
                    schedule.accumulate; // of a rank in one round
  // The size of a micro-batch changes batch-norm statistics, and the rows that
  // experts have no room for, and so the training.
  bool isFree = (!problem.hasBatchNorm ||
                 problem.strategy.training.batchNorm == "frozen") &&
                !plan.expertCapacity;
  if (isNamedSchedule(schedule.schedule) && isFree)
    for (int64_t m = 2 * plan.microbatches; m <= samples && samples % m == 0;
         m *= 2)
      steps.push_back({"microbatches", std::to_string(m)});
  // Last, because the link to the host is slow.
  bool isOnGpu = problem.strategy.target.kind == "cuda";
  if (isOnGpu && schedule.offload == "none")
    steps.push_back({"offload", "state"});
  if (isOnGpu && schedule.offload != "parameters") {
    // A single rank also gathers from host memory.
    bool isAlone = plan.dp == 1;
    if (isAlone && plan.zero == 0)
      steps.push_back({"zero", "3"});
    if (isAlone || plan.zero > 0 || splitters > 1)
      steps.push_back({"offload", "parameters"});
  }
  return steps;
}

size_t dtc::countMostPlans(const FitProblem &problem) {
  SmallVector<Options::value_type> steps = listSteps(problem);
  Options all;
  for (auto &[name, value] : steps)
    all[name] = value;
  // Plans each step, all steps together, and all without each of them.
  return steps.empty() ? 0 : steps.size() + 1 + all.size();
}

MemoryFit dtc::fitMemory(
    const FitProblem &problem,
    llvm::function_ref<std::optional<int64_t>(const Strategy &)> getPeak) {
  auto plan = [&](const Options &options) {
    return getPeak(apply(problem.strategy, options));
  };
  SmallVector<Options::value_type> steps = listSteps(problem);
  MemoryFit fit = {{}, std::numeric_limits<int64_t>::max()};
  for (auto &[name, value] : steps) {
    Options more = fit.options;
    more[name] = value;
    std::optional<int64_t> peak = plan(more);
    if (!peak || *peak >= fit.bytes)
      continue;
    fit = {more, *peak};
    if (fit.bytes <= problem.limit)
      break;
  }
  if (fit.bytes > problem.limit) {
    // A step that saves nothing alone may do so together with later ones.
    Options all;
    for (auto &[name, value] : steps)
      all[name] = value;
    std::optional<int64_t> peak = plan(all);
    if (peak && *peak < fit.bytes)
      fit = {all, *peak};
  }
  if (fit.bytes > problem.limit)
    return fit;
  for (StringRef name : llvm::to_vector(llvm::make_first_range(fit.options))) {
    Options fewer = fit.options;
    fewer.erase(name);
    std::optional<int64_t> peak;
    if (!fewer.empty() && (peak = plan(fewer)) && *peak <= problem.limit)
      fit = {fewer, *peak};
  }
  return fit;
}

std::string MemoryFit::printOptions() const {
  std::string text;
  for (auto &[name, value] : options)
    text += (text.empty() ? "--" : " --") + name.str() +
            (value.empty() ? "" : " " + value);
  return text;
}
