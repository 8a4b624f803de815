//===- ReleaseParts.cpp - parameters are in memory whole or in parts ------===//
//
// While a step has a parameter whole, nobody needs the part that the rank keeps
// from step to step: the update cuts it out of the whole.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Schedule/Aliases.h"
#include "dtc/Schedule/MemoryPlan.h"
#include "dtc/Schedule/Passes.h"
#include "dtc/Schedule/Phase.h"
#include "dtc/Schedule/Skeleton.h"

namespace dtc {
#define GEN_PASS_DEF_RELEASEPARTS
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static bool isOf(RunOp run, Phase::Kind kind) {
  std::optional<Phase> phase = Phase::parse(run.getCallee());
  return phase && phase->kind == kind;
}

/// The update takes the operand, a part, as the whole that a gather has made.
static void takeFromWhole(OpOperand &part, Value whole, AllGatherOp gather) {
  auto run = cast<RunOp>(part.getOwner());
  func::FuncOp update = getCallee(run);
  unsigned number = part.getOperandNumber();
  BlockArgument argument = update.getArgument(number);
  auto builder = OpBuilder::atBlockBegin(&update.front());
  auto own = LocalSliceOp::create(builder, gather.getLoc(), argument.getType(),
                                  argument, gather.getAxes(), gather.getDim());
  argument.replaceAllUsesExcept(own.getY(), own);
  argument.setType(whole.getType());
  update.setType(FunctionType::get(update.getContext(),
                                   update.front().getArgumentTypes(),
                                   update.getResultTypes()));
  update.removeArgAttr(number, attr::update);
  part.set(whole);
}

static void release(func::FuncOp plan) {
  SignatureEditor signature(plan);
  for (auto run : plan.getOps<RunOp>()) {
    if (!isOf(run, Phase::Prologue))
      continue;
    func::FuncOp prologue = getCallee(run);
    for (OpOperand &returned :
         prologue.front().getTerminator()->getOpOperands()) {
      auto gather = returned.get().getDefiningOp<AllGatherOp>();
      auto inside =
          gather ? dyn_cast<BlockArgument>(gather.getX()) : BlockArgument();
      auto part =
          inside
              ? dyn_cast<BlockArgument>(run.getInputs()[inside.getArgNumber()])
              : BlockArgument();
      if (!part || !plan.getArgAttr(part.getArgNumber(), attr::update))
        continue;
      // Nobody else needs it but the update.
      auto other = llvm::find_if(part.getUses(), [&](OpOperand &use) {
        return use.getOwner() != run;
      });
      if (!llvm::hasNItems(part.getUses(), 2) || other == part.use_end() ||
          !isa<RunOp>(other->getOwner()) ||
          !isOf(cast<RunOp>(other->getOwner()), Phase::Update))
        continue;
      takeFromWhole(*other, run.getResult(returned.getOperandNumber()), gather);
      signature.removeArg(part.getArgNumber(), attr::update);
    }
  }
  signature.write();
}

namespace {

struct ReleasePartsPass : dtc::impl::ReleasePartsBase<ReleasePartsPass> {
  void runOnOperation() override {
    FailureOr<Stages> stages = getStages(getOperation());
    if (failed(stages))
      return signalPassFailure();
    FailureOr<SmallVector<func::FuncOp>> plans = getScheduledPlans(*stages);
    if (failed(plans))
      return signalPassFailure();
    llvm::for_each(*plans, release);
  }
};

} // namespace
