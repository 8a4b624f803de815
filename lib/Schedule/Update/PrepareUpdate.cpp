//===- PrepareUpdate.cpp - operands of the update -------------------------===//
//
// Plans have their order now, so the run that completes each gradient and the
// lifetime of each gathered parameter are known.
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
    // Shards in host memory take no memory of the device.
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
