//===- HoistReshapes.cpp - elementwise ops on the shape of their users ----===//
//
// Exporters flatten [batch, sequence, width] for a product and add the bias
// before they restore it. Elementwise ops after the restoring reshape share
// kernels with what follows, and see the sequence as a dimension of its own.
// Those between two products stay on the products' shape.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/StepFunction.h"

namespace dtc {
#define GEN_PASS_DEF_HOISTRESHAPES
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// How many dimensions agree, from the last.
static size_t countCommonTail(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  size_t count = 0;
  while (count < a.size() && count < b.size() &&
         a[a.size() - 1 - count] == b[b.size() - 1 - count])
    ++count;
  return count;
}

/// reshape(f(x, bias)) becomes f(reshape(x), bias); the new reshapes are
/// appended.
static bool hoist(ReshapeOp reshape, SmallVectorImpl<ReshapeOp> &worklist) {
  Operation *producer = reshape.getX().getDefiningOp();
  if (!producer)
    return false;
  if (auto other = dyn_cast<ReshapeOp>(producer)) {
    reshape.getXMutable().assign(other.getX());
    if (reshape.getX().getType() == reshape.getType()) {
      reshape.replaceAllUsesWith(reshape.getX());
      reshape.erase();
    } else {
      worklist.push_back(reshape);
    }
    return true;
  }
  if (!producer->hasOneUse() || !isElementwise(producer) ||
      isa<TransposeOp>(producer))
    return false;
  auto from = cast<RankedTensorType>(reshape.getX().getType());
  auto to = cast<RankedTensorType>(reshape.getType());
  size_t tail = countCommonTail(from.getShape(), to.getShape());
  SmallVector<OpOperand *> whole;
  for (OpOperand &operand : producer->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (type.getShape() == from.getShape())
      whole.push_back(&operand);
    else if (type.getRank() > static_cast<int64_t>(tail))
      return false;
  }
  OpBuilder builder(producer);
  for (OpOperand *operand : whole) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    auto moved = ReshapeOp::create(
        builder, reshape.getLoc(),
        RankedTensorType::get(to.getShape(), type.getElementType()),
        operand->get());
    operand->set(moved);
    worklist.push_back(moved);
  }
  producer->getResult(0).setType(to);
  reshape.replaceAllUsesWith(producer->getResult(0));
  reshape.erase();
  return true;
}

namespace {

struct HoistReshapes : dtc::impl::HoistReshapesBase<HoistReshapes> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> forward = findFunction(getOperation(), "forward");
    if (failed(forward))
      return signalPassFailure();
    SmallVector<ReshapeOp> worklist(forward->getOps<ReshapeOp>());
    while (!worklist.empty())
      hoist(worklist.pop_back_val(), worklist);
    // Reshapes that only reshapes read.
    eraseDeadOps(*forward, &forward->front().front());
  }
};

} // namespace
