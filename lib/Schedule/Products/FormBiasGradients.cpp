//===- FormBiasGradients.cpp - fuse gradients of biases -------------------===//
//
// A product reads the gradient of a layer's result for the gradient of the
// weight, and a sum of rows reads it for the gradient of the bias. The pass
// lets the product compute both.
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Schedule/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_FORMBIASGRADIENTS
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The type of a row that is summed to `type`, [1, .., columns]; null if a
/// dimension of size 1 is split.
static RankedTensorType getRowType(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (layout) {
    SmallVector<AxisLayout> entries(layout.getEntries());
    for (AxisLayout &entry : entries) {
      if (!entry.hasDim())
        continue;
      if (entry.dim != type.getRank() - 1)
        return {};
      entry.dim = 0;
    }
    layout = LayoutAttr::getCanonical(layout.getMesh(), entries);
  }
  return RankedTensorType::get(type.getShape().take_back(),
                               type.getElementType(), layout);
}

/// Whether an op sums the rows of a product's result, in f32, and no kernel
/// also reads them.
static bool sumsRowsOfProduct(ReduceSumOp sum) {
  RankedTensorType from = sum.getX().getType(), to = sum.getType();
  Operation *producer = skipReshapes(sum.getX()).getDefiningOp();
  if (!isFloat16(from) || !to.getElementType().isF32() || !producer ||
      !producer->hasTrait<Product>() ||
      to.getNumElements() != from.getShape().back() ||
      to.getShape().back() != from.getShape().back())
    return false;
  return !isReadByKernel(skipReshapes(sum.getX()), /*besides=*/sum);
}

/// The operand of a weight's gradient with which it contracts the rows of
/// `gradient`; null if there is none.
static OpOperand *findWeightGradient(Value gradient, int64_t columns) {
  auto type = cast<RankedTensorType>(gradient.getType());
  bool isMatrix = type.getRank() == 2 && type.getDimSize(1) == columns;
  for (OpOperand &use : gradient.getUses()) {
    if (auto view = dyn_cast<ReshapeOp>(use.getOwner()))
      if (OpOperand *found = findWeightGradient(view.getResult(), columns))
        return found;
    auto product = dyn_cast<MatMulOp>(use.getOwner());
    if (product && isMatrix &&
        product.getResult().getType().getElementType().isF32() &&
        (use.getOperandNumber() == 0 ? product.getTransposeLhs()
                                     : !product.getTransposeRhs()))
      return &use;
  }
  return nullptr;
}

/// Replaces the sum with a second result of the product.
static void join(ReduceSumOp sum) {
  if (!sumsRowsOfProduct(sum))
    return;
  Value source = skipReshapes(sum.getX());
  OpOperand *use = findWeightGradient(source, sum.getType().getNumElements());
  RankedTensorType row = getRowType(sum.getType());
  if (!use || !row)
    return;
  auto product = cast<MatMulOp>(use->getOwner());
  bool isOfLhs = use->getOperandNumber() == 0;
  // Move one of them so that both have their operands and precede their users.
  Operation *before = product;
  if (sum->isBeforeInBlock(product)) {
    before = sum;
    for (Value operand : product->getOperands())
      if (skipReshapes(operand) != source && operand.getDefiningOp() &&
          !operand.getDefiningOp()->isBeforeInBlock(sum))
        return;
  }
  OpBuilder builder(before);
  SmallVector<Value> operands;
  for (Value operand : product->getOperands())
    operands.push_back(skipReshapes(operand) == source
                           ? reshapeTo(builder, source, operand.getType())
                           : operand);
  auto both = MatMulBiasGradOp::create(
      builder, builder.getFusedLoc({product.getLoc(), sum.getLoc()}),
      product.getType(), row, operands[0], operands[1],
      product.getTransposeLhs(), product.getTransposeRhs(), isOfLhs);
  sum.getResult().replaceAllUsesWith(
      reshapeTo(builder, both.getSums(), sum.getType()));
  product.getResult().replaceAllUsesWith(both.getResult());
  sum.erase();
  product.erase();
}

namespace {

struct FormBiasGradients : dtc::impl::FormBiasGradientsBase<FormBiasGradients> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FormBiasGradientsBase::getDependentDialects(registry);
    registerKernelOpModels(registry);
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    for (auto sum : llvm::to_vector(step->getOps<ReduceSumOp>()))
      join(sum);
    eraseDeadOps(*step);
  }
};

} // namespace
