//===- ReleaseParts.cpp - parameters are in memory whole or in parts ------===//
//
// While a step has a parameter whole, nobody needs the part that the rank keeps
// from step to step: the update cuts it out of the whole.
//
//===----------------------------------------------------------------------===//

#include "PrepareUpdate.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Gathered.h"
#include "dtc/Plan/Skeleton.h"

using namespace mlir;
using namespace dtc;

/// The use of a part by the update; null if somebody else but the gather needs
/// it, too.
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

/// The update takes the operand, a part, as the whole.
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
