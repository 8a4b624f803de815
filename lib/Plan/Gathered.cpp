//===- Gathered.cpp - parameters gathered once a step ---------------------===//

#include "dtc/Plan/Gathered.h"
#include "dtc/Plan/Skeleton.h"

using namespace mlir;
using namespace dtc;

/// The argument of the plan that a prologue gathers.
static BlockArgument getPart(AllGatherOp gather, RunOp run) {
  auto inside = dyn_cast<BlockArgument>(gather.getX());
  if (!inside)
    return {};
  return dyn_cast<BlockArgument>(run.getInputs()[inside.getArgNumber()]);
}

SmallVector<Gathered> dtc::getGathered(func::FuncOp plan) {
  SmallVector<Gathered> all;
  for (auto run : plan.getOps<RunOp>()) {
    if (!isRunOf(run, Phase::Prologue))
      continue;
    Operation *end = getCallee(run).front().getTerminator();
    for (OpOperand &returned : end->getOpOperands())
      if (auto gather = returned.get().getDefiningOp<AllGatherOp>())
        all.push_back({gather, run, run.getResult(returned.getOperandNumber()),
                       getPart(gather, run)});
  }
  return all;
}
