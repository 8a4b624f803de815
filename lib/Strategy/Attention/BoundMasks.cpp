//===- BoundMasks.cpp - masks of attention without infinities -------------===//
//
// A library that computes attention in blocks of keys subtracts the largest
// score so far. If a query sees no key of a block, it subtracts -inf from -inf,
// which is NaN. A large finite number in place of -inf hides the same keys. A
// query that sees no key at all needs separate treatment.
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "dtc/Strategy/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {
#define GEN_PASS_DEF_BOUNDMASKS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// A score that hides a key, in f16 too. Next to a larger magnitude, an lse in
/// f32 would lose the logarithm of the sum.
static constexpr double hidden = -60000;
/// Lower bound of the lse of a query that sees a key: scores are at most 2^12.
static constexpr double lowestSeen = -30000;

static Value bound(Value mask) {
  OpBuilder b(mask.getContext());
  b.setInsertionPointAfterValue(mask);
  Location loc = mask.getLoc();
  Type element = getElementTypeOrSelf(mask);
  DenseElementsAttr numbers = getConstant(mask);
  if (!numbers)
    return MaximumOp::create(b, loc, mask,
                             createNumber(b, loc, element, hidden));
  APFloat lowest = b.getFloatAttr(element, hidden).getValue();
  auto limited = cast<DenseFPElementsAttr>(numbers).mapValues(
      element, [&](const APFloat &number) {
        return (number < lowest ? lowest : number).bitcastToAPInt();
      });
  return ConstantOp::create(b, loc, mask.getType(), limited);
}

/// Whether each row of a mask is known to leave a key visible.
static bool seesKeys(Value mask) {
  DenseElementsAttr elements = getConstant(mask);
  if (!elements)
    return false;
  auto isSeen = [](const APFloat &number) {
    return number.convertToDouble() > lowestSeen;
  };
  auto numbers = elements.getValues<APFloat>();
  int64_t keys = elements.getType().getShape().back();
  for (int64_t i = 0, e = elements.getNumElements(); i < e; i += keys)
    if (llvm::none_of(
            llvm::make_range(numbers.begin() + i, numbers.begin() + i + keys),
            isSeen))
      return false;
  return true;
}

/// Sets the result of queries that see no key to 0, and so their gradient.
static void clearUnseen(AttentionOp op) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  Value result = op.getResult(), lse = op.getLse();
  Value seen = CompareOp::create(
      b, loc, Comparison::gt, lse,
      createNumber(b, loc, getElementTypeOrSelf(lse), lowestSeen));
  // Reorder [batch, heads, queries] to [batch, queries, heads, 1].
  seen = TransposeOp::create(b, loc, seen, ArrayRef<int64_t>{0, 2, 1});
  auto shape = llvm::to_vector(cast<ShapedType>(seen.getType()).getShape());
  shape.push_back(1);
  seen = ReshapeOp::create(b, loc, RankedTensorType::get(shape, b.getI1Type()),
                           seen);
  auto select =
      SelectOp::create(b, loc, seen, result,
                       createNumber(b, loc, getElementTypeOrSelf(result), 0));
  result.replaceAllUsesExcept(select, select);
}

namespace {

struct BoundMasks : dtc::impl::BoundMasksBase<BoundMasks> {
  void runOnOperation() override {
    // Layers share masks.
    llvm::DenseMap<Value, Value> bounded;
    getOperation()->walk([&](AttentionOp op) {
      Value mask = op.getMask();
      if (!mask || op.getDivided())
        return;
      Value &own = bounded[mask];
      if (!own)
        own = bound(mask);
      op.getMaskMutable().assign(own);
      if (op.getCausal() || !seesKeys(mask))
        clearUnseen(op);
    });
  }
};

} // namespace
