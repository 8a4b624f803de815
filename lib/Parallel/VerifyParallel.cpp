//===- VerifyParallel.cpp - what holds after the parallel phase -----------===//
//
// Layouts themselves are verified by every op; this pass adds what no single
// op can see.
//
//===----------------------------------------------------------------------===//

#include "dtc/Parallel/Passes.h"
#include "dtc/Training/FindFunction.h"

namespace dtc {
#define GEN_PASS_DEF_VERIFYPARALLEL
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct VerifyParallel : public dtc::impl::VerifyParallelBase<VerifyParallel> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step) || failed(verify(*step)))
      signalPassFailure();
  }

  LogicalResult verify(func::FuncOp step) {
    for (BlockArgument argument : step.getArguments())
      if (!getLayout(argument.getType()))
        return step.emitError("argument ")
               << argument.getArgNumber() << " has no layout";

    // The sum over micro-batches that a value depends on, if what was summed
    // depends on a parameter or on optimizer state: it is known only at the end
    // of the step.
    DenseMap<Value, SumMicrobatchesOp> late;
    DenseSet<Value> trained;
    for (BlockArgument argument : step.getArguments())
      if (!step.getArgAttr(argument.getArgNumber(), attr::input))
        trained.insert(argument);
    for (Operation &op : step.getBody().front().without_terminator()) {
      if (isa<ReshardOp>(op))
        return op.emitOpError("is left after InsertCollectives");
      for (Type type : op.getResultTypes())
        if (!getLayout(type))
          return op.emitOpError("has a result without a layout");
      bool isTrained = llvm::any_of(
          op.getOperands(), [&](Value v) { return trained.contains(v); });
      SumMicrobatchesOp sum;
      for (Value operand : op.getOperands())
        if (SumMicrobatchesOp found = late.lookup(operand))
          sum = found;
      if (auto self = dyn_cast<SumMicrobatchesOp>(op); self && isTrained)
        sum = self;
      for (Value result : op.getResults()) {
        if (isTrained)
          trained.insert(result);
        if (!sum)
          continue;
        if (getLayout(result.getType()).isSplit(MeshAttr::timeAxis)) {
          InFlightDiagnostic diag =
              op.emitOpError("runs for each micro-batch, but needs a sum over "
                             "all micro-batches of this step; use 1 "
                             "micro-batch");
          diag.attachNote(sum.getLoc()) << "the sum is here";
          return diag;
        }
        late[result] = sum;
      }
    }
    return success();
  }
};

} // namespace
