//===- ExpandDropout.cpp - dropout by random numbers ----------------------===//
//
// A mask is a comparison with random numbers, so existing ops determine its
// gradient, its layout and its kernels.
//
//===----------------------------------------------------------------------===//

#include "ExpandTrainingOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace dtc;

static void expand(DropoutOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  RankedTensorType type = op.getY().getType();
  auto scalar = [&](double value) -> Value {
    auto scalarType = RankedTensorType::get({}, type.getElementType());
    return ConstantOp::create(
        builder, scalarType,
        DenseElementsAttr::get(
            scalarType, builder.getFloatAttr(type.getElementType(), value)));
  };
  double probability = op.getProbability().convertToDouble();
  Value numbers = RandomUniformOp::create(builder, type, op.getSeed(),
                                          op.getStep(), op.getId());
  Value keep =
      CompareOp::create(builder, Comparison::ge, numbers, scalar(probability));
  // The selection repeats a repeated operand itself.
  Value x = op.getX();
  if (auto repeat = x.getDefiningOp<BroadcastOp>())
    x = repeat.getX();
  if (probability < 1)
    x = MulOp::create(builder, x, scalar(1 / (1 - probability)));
  op.replaceAllUsesWith(
      SelectOp::create(builder, keep, x, scalar(0)).getResult());
  op.erase();
}

void dtc::expandDropouts(func::FuncOp step) {
  for (auto op : llvm::make_early_inc_range(step.front().getOps<DropoutOp>()))
    expand(op);
  eraseDeadOps(step);
}
