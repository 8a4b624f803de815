//===- MarkMixedSamples.cpp - models of pairs of samples ------------------===//
//
// An evaluation repeats samples to fill the last batch. This does not change
// predictions of single samples, or predictions that depend on means over the
// batch.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Propagation/BatchLayouts.h"
#include "dtc/Strategy/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_MARKMIXEDSAMPLES
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Whether an op needs all samples of a value at once, one by one.
static bool gathersSamples(func::FuncOp step) {
  int64_t batch = getExportedBatch(step);
  if (batch < 2)
    return false;
  ScopedDiagnosticHandler silent(step.getContext(),
                                 [](Diagnostic &) { return success(); });
  if (failed(splitIntoSamples(step, batch)))
    return true;
  return llvm::any_of(step.getOps<ReshardOp>(), [](ReshardOp op) {
    return getLayout(op.getX().getType()).isSplit(MeshAttr::timeAxis);
  });
}

namespace {

struct MarkMixedSamples
    : public dtc::impl::MarkMixedSamplesBase<MarkMixedSamples> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    std::optional<unsigned> number =
        findResult(*step, attr::output, "predictions");
    if (!number)
      return;
    OwningOpRef<func::FuncOp> copy = step->clone();
    llvm::BitVector others(copy->getNumResults(), true);
    others.reset(*number);
    getReturn(*copy)->eraseOperands(others);
    (void)copy->eraseResults(others);
    eraseDeadOps(*copy);
    if (gathersSamples(*copy))
      step->setResultAttr(*number, attr::mixesSamples,
                          UnitAttr::get(&getContext()));
  }
};

} // namespace
