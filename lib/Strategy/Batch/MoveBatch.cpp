//===- MoveBatch.cpp - move the batch to dimension 0 of results -----------===//
//
// Labels have the batch as dimension 0, as all data. Results that are compared
// with them must have it there, too.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Propagation/BatchLayouts.h"
#include "dtc/Strategy/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_MOVEBATCH
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The dimension that is the batch; none if samples are mixed, or if the batch
/// is part of a dimension.
static std::optional<int64_t> findBatchDim(Type type) {
  LayoutAttr layout = getLayout(type);
  if (!layout || layout.hasPartial() || layout.getEntries().size() != 1)
    return std::nullopt;
  AxisLayout split = layout.getEntries().front();
  bool isWhole = split.hasDim() && split.pieces == 1 &&
                 cast<ShapedType>(type).getDimSize(split.dim) ==
                     layout.getMesh().getSize(split.axis.getValue());
  return isWhole ? std::optional(split.dim) : std::nullopt;
}

static Value moveToFront(Value value, int64_t dim, Operation *before) {
  OpBuilder b(before);
  SmallVector<int64_t> order = {dim};
  for (int64_t i = 0; i < cast<ShapedType>(value.getType()).getRank(); ++i)
    if (i != dim)
      order.push_back(i);
  return TransposeOp::create(b, value.getLoc(), value, order);
}

namespace {

struct MoveBatch : public dtc::impl::MoveBatchBase<MoveBatch> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
    if (failed(forward))
      return signalPassFailure();
    // A batch of one sample looks like any other dimension of size 1.
    int64_t batch = getExportedBatch(*forward);
    if (batch < 2)
      return;
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    auto followed = copy->lookupSymbol<func::FuncOp>(forwardName);
    {
      // Suppress errors here: a later pass reports them if they matter.
      ScopedDiagnosticHandler silent(&getContext(),
                                     [](Diagnostic &) { return success(); });
      if (failed(splitIntoSamples(followed, batch)))
        return;
    }
    // A product of all pairs of samples has two batch dimensions. Keep the
    // model's order of these.
    bool isMixed = !followed.getOps<ReshardOp>().empty();
    Operation *end = forward->front().getTerminator();
    for (auto [operand, own] :
         llvm::zip(end->getOpOperands(),
                   followed.front().getTerminator()->getOperands()))
      if (auto dim = findBatchDim(own.getType());
          dim && *dim != 0 &&
          !(isMixed && cast<ShapedType>(own.getType()).getDimSize(0) == batch))
        operand.set(moveToFront(operand.get(), *dim, end));
    forward->setType(FunctionType::get(
        &getContext(), forward->getArgumentTypes(), end->getOperandTypes()));
  }
};

} // namespace
