//===- DeviceMemory.cpp - whether a plan fits the devices -----------------===//
//
// See DeviceMemory.h. What would fit is not estimated: it is planned.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Fail.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Report/Report.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Options to add, in order: name and value, which is empty for a flag.
using Settings = llvm::MapVector<StringRef, std::string>;

/// Plans a model with other options.
class Planner {
public:
  Planner(ModuleOp model, const CompileOptions &options, int64_t limit)
      : model(model), options(options), limit(limit) {}

  /// Bytes of the rank that needs most; none if there is no such plan.
  std::optional<int64_t> getPeak(const Settings &settings);

  /// Options that fit and of which none can be left out, and the bytes with
  /// them; if none fit, those with the fewest bytes. Steps that save nothing
  /// are passed over.
  std::pair<Settings, int64_t> search(ArrayRef<Settings::value_type> steps);

private:
  ModuleOp model;
  const CompileOptions &options;
  int64_t limit;
};

} // namespace

static CompileOptions apply(CompileOptions options, const Settings &settings) {
  auto number = [](const std::string &value) { return std::stoll(value); };
  for (auto &[name, value] : settings) {
    if (name == "schedule")
      options.schedule.schedule = value;
    else if (name == "sp")
      options.parallel.sp = true;
    else if (name == "recompute")
      options.schedule.recompute = value;
    else if (name == "zero")
      options.parallel.zero = number(value);
    else if (name == "microbatches")
      options.parallel.microbatches = number(value);
  }
  return options;
}

/// What to try, each on top of those before: first what costs no time.
static SmallVector<Settings::value_type>
listSteps(const CompileOptions &options, int64_t batch, bool hasBatchNorm) {
  const ParallelOptions &plan = options.parallel;
  StringRef schedule = options.schedule.schedule;
  StringRef recompute = options.schedule.recompute;
  SmallVector<Settings::value_type> steps;
  if (plan.pp > 1 && (schedule == "gpipe" || schedule == "zb-h1"))
    steps.push_back({"schedule", options.schedule.virtualStages > 1
                                     ? "interleaved"
                                     : "1f1b"});
  if (plan.tp > 1 && !plan.sp)
    steps.push_back({"sp", ""});
  if (recompute == "none")
    steps.push_back({"recompute", "selective"});
  for (int64_t zero = plan.zero + 1; plan.dp > 1 && zero <= 3; ++zero)
    steps.push_back({"zero", std::to_string(zero)});
  if (recompute != "all")
    steps.push_back({"recompute", "all"});
  int64_t samples =
      batch / plan.dp / options.schedule.accumulate; // of a rank's round
  // Other micro-batches would have other statistics: another training.
  bool isFree = !hasBatchNorm || options.training.batchNorm == "frozen";
  if (isNamedSchedule(schedule) && isFree)
    for (int64_t m = 2 * plan.microbatches; m <= samples && samples % m == 0;
         m *= 2)
      steps.push_back({"microbatches", std::to_string(m)});
  return steps;
}

std::optional<int64_t> Planner::getPeak(const Settings &settings) {
  ScopedDiagnosticHandler quiet(model.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = model.clone();
  apply(options, settings).set(*module);
  for (CompilePhase phase : planPhases)
    if (failed(runPhase(phase, *module, *options.target)))
      return std::nullopt;
  FailureOr<Stages> stages = getStages(*module);
  int64_t peak = 0;
  for (ModuleOp stage : *stages)
    peak = std::max(
        peak,
        getPlan(stage)->getAttrOfType<IntegerAttr>(attr::arenaBytes).getInt());
  return peak;
}

std::pair<Settings, int64_t>
Planner::search(ArrayRef<Settings::value_type> steps) {
  Settings settings;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (auto &[name, value] : steps) {
    Settings more = settings;
    more[name] = value;
    std::optional<int64_t> peak = getPeak(more);
    if (!peak || *peak >= least)
      continue;
    settings = more;
    least = *peak;
    if (least <= limit)
      break;
  }
  if (least > limit) {
    // What saves nothing alone may do so with what comes after it.
    Settings all;
    for (auto &[name, value] : steps)
      all[name] = value;
    std::optional<int64_t> peak = getPeak(all);
    if (peak && *peak < least) {
      settings = all;
      least = *peak;
    }
  }
  if (least > limit)
    return {settings, least};
  for (StringRef name : llvm::to_vector(llvm::make_first_range(settings))) {
    Settings fewer = settings;
    fewer.erase(name);
    std::optional<int64_t> peak;
    if (!fewer.empty() && (peak = getPeak(fewer)) && *peak <= limit) {
      settings = fewer;
      least = *peak;
    }
  }
  return {settings, least};
}

static std::string print(const Settings &settings) {
  std::string text;
  for (auto &[name, value] : settings)
    text += (text.empty() ? "--" : " --") + name.str() +
            (value.empty() ? "" : " " + value);
  return text;
}

/// The largest part of what a stage's ranks hold.
static std::pair<int64_t, StringRef> getLargestPart(const StageReport &stage) {
  return std::max<std::pair<int64_t, StringRef>>(
      {{stage.parameterBytes, "parameters"},
       {stage.stateBytes, "optimizer state"},
       {stage.gradientBytes, "gradients"},
       {stage.inputBytes, "inputs"},
       {stage.gatheredBytes, "gathered parameters"},
       {stage.activationBytes, "activations"}});
}

LogicalResult dtc::checkDeviceMemory(ModuleOp plan, ModuleOp model,
                                     const CompileOptions &options,
                                     int64_t batch, int64_t limit,
                                     StringRef limitText) {
  FailureOr<Report> report = Report::compute(plan);
  if (failed(report))
    return failure();
  auto stage = llvm::max_element(
      report->stages, [](const StageReport &a, const StageReport &b) {
        return a.peakBytes < b.peakBytes;
      });
  if (stage->peakBytes <= limit)
    return success();
  auto [bytes, part] = getLargestPart(*stage);
  std::string found =
      (report->stages.size() == 1
           ? std::string("each rank")
           : "each rank of stage " +
                 std::to_string(stage - report->stages.begin())) +
      " needs " + formatBytes(stage->peakBytes) + " (" +
      std::to_string(stage->peakBytes) + " bytes), " + formatBytes(bytes) +
      " of it for " + part.str() + ", but --device-memory is " +
      limitText.str();

  bool hasBatchNorm =
      model.walk([](BatchNormOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  auto [settings, least] = Planner(model, options, limit)
                               .search(listSteps(options, batch, hasBatchNorm));
  std::string advice;
  if (least <= limit)
    advice = "; with " + print(settings) + " it would need " +
             formatBytes(least) + " and fit";
  else if (least < stage->peakBytes)
    advice =
        "; dtc finds no options that fit these ranks: the least found is " +
        formatBytes(least) + ", with " + print(settings) + "; use more ranks";
  else
    advice = "; dtc finds no options with which these ranks need less; use "
             "more ranks";
  return fail(found + advice);
}
