//===- ExpandTrainingOps.cpp - expand ops that differ in training ---------===//
//
// Batch norm and dropout compute something else in training than in an
// evaluation. After this pass, separate ops express each meaning.
//
//===----------------------------------------------------------------------===//

#include "ExpandTrainingOps.h"
#include "dtc/Strategy/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_EXPANDTRAININGOPS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct ExpandTrainingOpsPass
    : dtc::impl::ExpandTrainingOpsBase<ExpandTrainingOpsPass> {
  using ExpandTrainingOpsBase::ExpandTrainingOpsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    cloneForEvaluation(*step);
    if (failed(
            expandBatchNorms(*step, {statistics, microbatches, dp, replicas})))
      return signalPassFailure();
    expandDropouts(*step);
    keyRandomNumbers(*step);
  }
};

} // namespace
