//===- CanonicalizeElementwise.cpp - removal of no-ops --------------------===//
//
// Exporters give a convolution without bias a bias of zeros. The addition would
// read and write a whole activation.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"

using namespace mlir;
using namespace dtc;

/// Whether all elements of a constant are `number`.
static bool isConstant(Value value, int64_t number) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().isExactlyValue(double(number));
  return splat.getSplatValue<APInt>().getSExtValue() == number;
}

namespace {

/// Removes an op whose other operand is `neutral`, which changes at most the
/// sign of zero.
template <typename OpType, int64_t neutral, bool commutes>
struct DropNeutral : GlobalPattern<OpType> {
  using GlobalPattern<OpType>::GlobalPattern;
  LogicalResult rewrite(OpType op, PatternRewriter &rewriter) const override {
    for (auto [x, other] : {std::pair(op.getLhs(), op.getRhs()),
                            std::pair(op.getRhs(), op.getLhs())}) {
      if (x.getType() == op.getType() && isConstant(other, neutral)) {
        rewriter.replaceOp(op, x);
        return success();
      }
      if (!commutes)
        break;
    }
    return failure();
  }
};

} // namespace

void dtc::populateElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<DropNeutral<AddOp, 0, true>, DropNeutral<SubOp, 0, false>,
               DropNeutral<MulOp, 1, true>, DropNeutral<DivOp, 1, false>>(
      patterns.getContext());
}
