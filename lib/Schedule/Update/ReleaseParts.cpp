//===- ReleaseParts.cpp - free shards of gathered parameters --------------===//
//
// While a step has a gathered parameter, the rank's own shard needs no memory:
// the update slices it out of the whole.
//
//===----------------------------------------------------------------------===//

#include "PrepareUpdate.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Gathered.h"
#include "dtc/Plan/Skeleton.h"

using namespace mlir;
using namespace dtc;

/// The use of a shard by the update; null if an op other than the gather also
/// uses it.
static OpOperand *findOnlyUpdate(const Gathered &gathered) {
  OpOperand *found = nullptr;
  for (OpOperand &use : gathered.part.getUses()) {
    auto run = dyn_cast<RunOp>(use.getOwner());
    if (run == gathered.run)
      continue;
    if (found || !run || !isRunOf(run, Phase::Update))
      return nullptr;
    found = &use;
  }
  return found;
}

/// Passes the whole parameter to the update in place of the shard.
static void takeFromWhole(OpOperand &part, Gathered gathered) {
  func::FuncOp update = getCallee(cast<RunOp>(part.getOwner()));
  unsigned number = part.getOperandNumber();
  BlockArgument argument = update.getArgument(number);
  auto builder = OpBuilder::atBlockBegin(&update.front());
  auto own = LocalSliceOp::create(builder, gathered.op.getLoc(),
                                  argument.getType(), argument,
                                  gathered.op.getAxes(), gathered.op.getDim());
  argument.replaceAllUsesExcept(own.getY(), own);
  argument.setType(gathered.whole.getType());
  update.setType(FunctionType::get(update.getContext(),
                                   update.front().getArgumentTypes(),
                                   update.getResultTypes()));
  update.removeArgAttr(number, attr::update);
  part.set(gathered.whole);
}

void dtc::releaseParts(func::FuncOp plan) {
  SignatureEditor signature(plan);
  for (const Gathered &gathered : getGathered(plan)) {
    if (!gathered.part ||
        !plan.getArgAttr(gathered.part.getArgNumber(), attr::update))
      continue;
    OpOperand *use = findOnlyUpdate(gathered);
    if (!use)
      continue;
    takeFromWhole(*use, gathered);
    signature.removeArg(gathered.part.getArgNumber(), attr::update);
  }
  signature.write();
}
