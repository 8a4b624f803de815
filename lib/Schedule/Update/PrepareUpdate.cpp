//===- PrepareUpdate.cpp - what the update takes --------------------------===//
//
// A plan has its order: which run completes a gradient is known, and so is when
// a parameter is there as a whole.
//
//===----------------------------------------------------------------------===//

#include "PrepareUpdate.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_PREPAREUPDATE
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct PrepareUpdatePass : dtc::impl::PrepareUpdateBase<PrepareUpdatePass> {
  using PrepareUpdateBase::PrepareUpdateBase;

  void runOnOperation() override {
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    FailureOr<SmallVector<func::FuncOp>> plans =
        getScheduledPlans(programs->front());
    if (failed(plans))
      return signalPassFailure();
    // Those of the host take no room on the device.
    if (offload != "parameters")
      llvm::for_each(*plans, releaseParts);
    llvm::for_each(*plans, hoistReductions);
    for (const Stages &stages : *programs)
      for (ModuleOp stage : stages)
        for (auto function : stage.getOps<func::FuncOp>())
          bucket(function);
  }

  void bucket(func::FuncOp function) {
    std::optional<Phase> phase = getPhase(function);
    if (!phase)
      return;
    bool isLast = phase->runs == Phase::Last;
    if (isLast || phase->kind == Phase::Update)
      bucketGradients(function, bucketMb << 20, /*startsEarly=*/isLast);
  }
};

} // namespace
