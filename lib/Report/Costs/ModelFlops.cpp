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

int64_t dtc::countCopies(Type type, bool hasServer) {
  int64_t copies = 1;
  if (LayoutAttr layout = getLayout(type))
    for (const AxisLayout &entry : layout.getEntries())
      if (int64_t size = layout.getMesh().getSize(entry.axis.getValue());
          entry.isEach() && size > 1)
        copies *= hasServer ? size - 1 : size;
  return copies;
}

std::map<std::string, double> dtc::countModelFlops(ArrayRef<ModuleOp> stages) {
  std::map<std::string, double> flops;
  bool isServed = hasServer(stages.front()->getParentOfType<ModuleOp>());
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
            countCopies(op->getResult(0).getType(), isServed);
      });
  return flops;
}
