//===- DeviceMemory.cpp - whether a plan fits the devices -----------------===//
//
// See DeviceMemory.h.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Fail.h"
#include "SearchProgress.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Driver/FitMemory.h"
#include "dtc/Report/Report.h"
#include "dtc/Target/Targets.h"

using namespace mlir;
using namespace dtc;

/// The largest part of the memory of a stage's ranks.
static std::pair<int64_t, StringRef> getLargestPart(const StageReport &stage) {
  return std::max<std::pair<int64_t, StringRef>>(
      {{stage.parameterBytes, "parameters"},
       {stage.stateBytes, "optimizer state"},
       {stage.gradientBytes, "gradients"},
       {stage.inputBytes, "inputs"},
       {stage.gatheredBytes, "gathered parameters"},
       {stage.activationBytes, "activations"},
       {stage.reservedBytes,
        "context, libraries and communication of the GPU"}});
}

LogicalResult dtc::checkDeviceMemory(ModuleOp plan, ModuleOp model,
                                     const Strategy &options, int64_t batch,
                                     int64_t limit, StringRef limitText) {
  FailureOr<Report> report = Report::compute(plan);
  if (failed(report))
    return failure();
  for (StageReport &stage : report->stages)
    stage.reservedBytes = getReservedBytes(options.target, plan);
  auto stage = llvm::max_element(
      report->stages, [](const StageReport &a, const StageReport &b) {
        return a.getNeededBytes() < b.getNeededBytes();
      });
  int64_t needed = stage->getNeededBytes();
  if (needed <= limit)
    return success();
  auto [bytes, part] = getLargestPart(*stage);
  std::string found =
      (report->stages.size() == 1
           ? std::string("each rank")
           : "each rank of stage " +
                 std::to_string(stage - report->stages.begin())) +
      " needs " + formatBytes(needed) + " (" + std::to_string(needed) +
      " bytes), " + formatBytes(bytes) + " of it for " + part.str() +
      ", but --device-memory is " + limitText.str();

  bool hasBatchNorm =
      model.walk([](BatchNormOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  FitProblem problem = {options, batch, hasBatchNorm, limit};
  MemoryFit fit;
  {
    SearchProgress progress(countMostPlans(problem),
                            "dtc: error: " + found +
                                "; stopped by a signal before options that "
                                "fit were found");
    fit = fitMemory(problem, [&](const Strategy &strategy) {
      progress.begin();
      return getPlannedBytes(model, strategy);
    });
  }
  std::string advice;
  if (fit.bytes <= limit)
    advice = "; with " + fit.printOptions() + " it would need " +
             formatBytes(fit.bytes) + " and fit";
  else if (fit.bytes < needed)
    advice =
        "; dtc finds no options that fit these ranks: the least found is " +
        formatBytes(fit.bytes) + ", with " + fit.printOptions() +
        "; use more ranks";
  else
    advice = "; dtc finds no options with which these ranks need less; use "
             "more ranks";
  return fail(found + advice);
}
