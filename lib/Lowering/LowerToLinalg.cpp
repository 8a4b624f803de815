//===- LowerToLinalg.cpp - lowering of dtc ops in kernels to linalg -------===//
//
// Replaces every dtc op by the ops that its LinalgLoweringInterface builds.
//
//===----------------------------------------------------------------------===//

#include "Math/WidenFloats.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Plan/KernelOps.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERTOLINALG
#include "dtc/Lowering/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct LowerToLinalg : dtc::impl::LowerToLinalgBase<LowerToLinalg> {
  using LowerToLinalgBase::LowerToLinalgBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    LowerToLinalgBase::getDependentDialects(registry);
    registerLinalgLoweringModels(registry);
    registerKernelOpModels(registry); // for lookups
  }

  void runOnOperation() override {
    SmallVector<LinalgLoweringInterface> ops;
    getOperation().walk([&](func::FuncOp function) {
      if (!function->hasAttr(attr::kernel))
        return;
      widenFloats(function);
      function.walk([&](LinalgLoweringInterface op) { ops.push_back(op); });
    });
    for (LinalgLoweringInterface op : ops) {
      OpBuilder builder(op);
      op->replaceAllUsesWith(op.lowerToLinalg(builder));
      op->erase();
    }
  }
};

} // namespace
