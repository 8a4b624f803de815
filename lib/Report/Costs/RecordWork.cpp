//===- RecordWork.cpp - record the cost of launches and library calls -----===//
//
// The costs of kernels are known while these are dtc ops.
//
//===----------------------------------------------------------------------===//

#include "OpCost.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Plan/Work.h"
#include "dtc/Report/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_RECORDWORK
#include "dtc/Report/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Whether the cost of an op is known. It is not if its kernel is compiled.
static bool isCounted(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return isa_and_nonnull<func::FuncOp>(launch.getFunction());
  return isa<CostInterface>(op);
}

namespace {

struct RecordWork : dtc::impl::RecordWorkBase<RecordWork> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Stages stages;
    for (ModuleOp stage : module.getOps<ModuleOp>())
      if (stage->hasAttr(attr::stage) && isOfStep(stage) &&
          stage.lookupSymbol<func::FuncOp>(planName))
        stages.push_back(stage);
    if (stages.empty())
      return;
    Builder builder(module.getContext());
    OpCosts costs;
    for (ModuleOp stage : stages)
      stage.walk([&](Operation *op) {
        if (!isCounted(op))
          return;
        OpCost cost = costs.get(op);
        if (cost.kind == OpCost::Kernel || cost.kind == OpCost::Library)
          op->setAttr(attr::work,
                      builder.getDenseI64ArrayAttr({cost.flops, cost.bytes}));
      });
    double total = 0;
    for (auto &[numbers, flops] : countModelFlops(stages))
      total += flops;
    module->setAttr(attr::modelFlops,
                    builder.getI64IntegerAttr(int64_t(total)));
  }
};

} // namespace
