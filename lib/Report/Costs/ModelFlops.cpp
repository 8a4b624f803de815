//===- ModelFlops.cpp - FLOPs of the model --------------------------------===//
//
// Counts the products of the forward pass. Recomputation does not count.
//
//===----------------------------------------------------------------------===//

#include "OpCost.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Plan/Work.h"

using namespace mlir;
using namespace dtc;

int64_t dtc::countCopies(Type type) {
  int64_t copies = 1;
  if (LayoutAttr layout = getLayout(type))
    for (const AxisLayout &entry : layout.getEntries())
      if (entry.isEach())
        copies *= layout.getMesh().getSize(entry.axis.getValue());
  return copies;
}

std::map<std::string, double> dtc::countModelFlops(ArrayRef<ModuleOp> stages) {
  std::map<std::string, double> flops;
  for (ModuleOp stage : stages)
    for (auto run : getPlan(stage).getOps<RunOp>())
      getCallee(run).walk([&](Operation *op) {
        bool isOfForwardPass = isRunOf(run, Phase::Forward)
                                   ? op->hasTrait<Product>()
                                   : op->hasAttr(attr::ofForwardPass);
        if (!isOfForwardPass)
          return;
        flops[getNumbers(getElementTypeOrSelf(op->getOperand(0)))] +=
            3.0 * cast<CostInterface>(op).getFlops() *
            countCopies(op->getResult(0).getType());
      });
  return flops;
}
