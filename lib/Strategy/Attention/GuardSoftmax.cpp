//===- GuardSoftmax.cpp - gradients of softmaxes of -inf ------------------===//
//
// The softmax of a row of -inf is NaN, and exporters replace it with 0. Its
// gradient would still be 0 times NaN, so the pass also replaces the row before
// the softmax.
//
//===----------------------------------------------------------------------===//

#include "GuardedSoftmax.h"
#include "Numbers.h"
#include "dtc/Strategy/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <limits>

namespace dtc {
#define GEN_PASS_DEF_GUARDSOFTMAX
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

SoftmaxOp dtc::findGuardedSoftmax(SelectOp select) {
  auto softmax = select.getOnFalse().getDefiningOp<SoftmaxOp>();
  auto isNan = select.getCondition().getDefiningOp<CompareOp>();
  if (!softmax || !isNan || isNan.getPredicate() != Comparison::ne ||
      isNan.getLhs() != softmax->getResult(0) ||
      isNan.getRhs() != softmax->getResult(0) ||
      getNumber(select.getOnTrue()) != 0)
    return {};
  return softmax;
}

static void guard(SelectOp select, SoftmaxOp softmax) {
  OpBuilder b(softmax);
  Location loc = select.getLoc();
  Value x = softmax.getOperand();
  auto type = cast<RankedTensorType>(x.getType());
  auto number = [&](double value) {
    return createNumber(b, loc, type.getElementType(), value);
  };
  Value largest =
      ReduceMaxOp::create(b, loc, x, ArrayRef<int64_t>{type.getRank() - 1});
  Value hasNumber =
      CompareOp::create(b, loc, Comparison::gt, largest,
                        number(-std::numeric_limits<double>::infinity()));
  Value zero = number(0);
  Value rows = SelectOp::create(b, loc, hasNumber, x, zero);
  Value guarded = SoftmaxOp::create(b, softmax.getLoc(), type, rows);
  select.getResult().replaceAllUsesWith(
      SelectOp::create(b, loc, hasNumber, guarded, zero));
}

namespace {

struct GuardSoftmax : dtc::impl::GuardSoftmaxBase<GuardSoftmax> {
  void runOnOperation() override {
    getOperation()->walk([](SelectOp select) {
      if (SoftmaxOp softmax = findGuardedSoftmax(select))
        guard(select, softmax);
    });
  }
};

} // namespace
