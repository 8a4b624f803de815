//===- PlannedMemory.cpp - the planned memory of a strategy ---------------===//
//
// Runs the planning phases on a copy of a model to find its peak memory.
//
//===----------------------------------------------------------------------===//

#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Pipelines/Pipelines.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Target/Targets.h"

using namespace mlir;
using namespace dtc;

std::optional<int64_t> dtc::getPlannedBytes(ModuleOp model,
                                            const Strategy &strategy) {
  ScopedDiagnosticHandler quiet(model.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = model.clone();
  strategy.set(*module);
  for (CompilePhase phase : planPhases)
    if (failed(runPhase(phase, *module)))
      return std::nullopt;
  FailureOr<Stages> stages = getStages(*module);
  int64_t peak = 0;
  for (ModuleOp stage : *stages)
    peak = std::max(
        peak,
        getPlan(stage)->getAttrOfType<IntegerAttr>(attr::arenaBytes).getInt());
  return peak + getReservedBytes(strategy.target, *module);
}
