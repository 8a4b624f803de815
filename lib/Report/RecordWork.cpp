//===- RecordWork.cpp - what a program is told of its work ----------------===//

#include "dtc/Report/RecordWork.h"
#include "ReportCounts.h"
#include "dtc/Plan/Work.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace dtc;

std::map<std::string, double> dtc::countModelFlops(ArrayRef<ModuleOp> stages) {
  std::map<std::string, double> flops;
  for (ModuleOp stage : stages)
    for (auto run : getPlan(stage).getOps<RunOp>())
      getCallee(run).walk([&](Operation *op) {
        bool isOfForwardPass = isRunOf(run, Phase::Forward)
                                   ? op->hasTrait<Product>()
                                   : op->hasAttr(attr::ofForwardPass);
        if (isOfForwardPass)
          flops[getNumbers(getElementTypeOrSelf(op->getOperand(0)))] +=
              3.0 * cast<CostInterface>(op).getFlops();
      });
  return flops;
}

/// Whether the costs of an op are known here: kernels may be compiled already.
static bool isCounted(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return isa_and_nonnull<func::FuncOp>(launch.getFunction());
  return isa<CostInterface>(op);
}

void dtc::recordWork(ModuleOp module) {
  Stages stages;
  for (ModuleOp stage : module.getOps<ModuleOp>())
    if (stage->hasAttr(attr::stage) && !stage->hasAttr(attr::eval) &&
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
  module->setAttr(attr::modelFlops, builder.getI64IntegerAttr(int64_t(total)));
}
