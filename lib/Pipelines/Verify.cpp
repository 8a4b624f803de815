//===- Verify.cpp - one pass for the checks of all phases -----------------===//
//
// The checks themselves are in the libraries. One pass runs any of them.
//
//===----------------------------------------------------------------------===//

#include "dtc/Communication/Verify.h"
#include "dtc/Lowering/Verify.h"
#include "dtc/Memory/Verify.h"
#include "dtc/Options/Strategy.h"
#include "dtc/Parallel/Verify.h"
#include "dtc/Pipelines/Passes.h"
#include "dtc/Strategy/Verify.h"
#include "dtc/Training/Verify.h"
#include "llvm/ADT/STLExtras.h"

namespace dtc {
#define GEN_PASS_DEF_VERIFY
#include "dtc/Pipelines/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// A check that needs the number of pipeline stages.
template <LogicalResult (*verify)(ModuleOp module, int64_t numStages)>
static LogicalResult verifyStages(ModuleOp module) {
  FailureOr<Strategy> strategy = Strategy::get(module);
  return failed(strategy) ? failure()
                          : verify(module, strategy->getNumVirtualStages());
}

namespace {

struct Invariant {
  StringRef name;
  LogicalResult (*verify)(ModuleOp module);
};

constexpr Invariant invariants[] = {
    {"strategy", verifyStages<verifyForward>},
    {"training", verifyStages<verifyTraining>},
    {"parallel", verifyParallel},
    {"memory", verifyMemory},
    {"communication", verifyCommunication},
    {"lowered-communication", verifyLoweredCommunication},
};

struct VerifyPass : dtc::impl::VerifyBase<VerifyPass> {
  using VerifyBase::VerifyBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    const Invariant *found =
        llvm::find_if(invariants, [&](const Invariant &candidate) {
          return candidate.name == invariant;
        });
    if (found == std::end(invariants)) {
      InFlightDiagnostic error = getOperation().emitError("invariant is '")
                                 << invariant << "', expected one of ";
      llvm::interleaveComma(invariants, error, [&](const Invariant &candidate) {
        error << candidate.name;
      });
      return signalPassFailure();
    }
    if (failed(found->verify(getOperation())))
      signalPassFailure();
  }
};

} // namespace
