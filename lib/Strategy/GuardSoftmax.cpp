//===- GuardSoftmax.cpp - softmaxes of rows without a number --------------===//
//
// A softmax of -inf alone is no number, and exporters put 0 in its place. Its
// gradient would still be 0 times what is no number. So such a row is replaced
// before the softmax, too.
//
//===----------------------------------------------------------------------===//

#include "GuardedSoftmax.h"
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
  auto zero = select.getOnTrue().getDefiningOp<ConstantOp>();
  if (!softmax || !isNan || !zero || isNan.getPredicate() != Comparison::ne ||
      isNan.getLhs() != softmax->getResult(0) ||
      isNan.getRhs() != softmax->getResult(0))
    return {};
  auto number = dyn_cast<DenseElementsAttr>(zero.getValue());
  return number && number.isSplat() && number.getSplatValue<APFloat>().isZero()
             ? softmax
             : SoftmaxOp();
}

static void guard(SelectOp select, SoftmaxOp softmax) {
  OpBuilder b(softmax);
  Location loc = select.getLoc();
  Value x = softmax.getOperand();
  auto type = cast<RankedTensorType>(x.getType());
  auto number = [&](double value) -> Value {
    auto scalar = RankedTensorType::get({}, type.getElementType());
    return ConstantOp::create(
        b, loc, scalar,
        DenseElementsAttr::get(scalar,
                               b.getFloatAttr(type.getElementType(), value)));
  };
  Value largest =
      ReduceMaxOp::create(b, loc, x, ArrayRef<int64_t>{type.getRank() - 1});
  Value isNumber =
      CompareOp::create(b, loc, Comparison::gt, largest,
                        number(-std::numeric_limits<double>::infinity()));
  Value zero = number(0);
  Value rows = SelectOp::create(b, loc, isNumber, x, zero);
  Value guarded = SoftmaxOp::create(b, softmax.getLoc(), type, rows);
  select.getResult().replaceAllUsesWith(
      SelectOp::create(b, loc, isNumber, guarded, zero));
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
