//===- BoundMasks.cpp - masks of attention without infinities -------------===//
//
// A library that computes attention in blocks of keys subtracts the largest
// score so far: of a block that a query does not see at all, -inf from -inf.
// With large finite numbers in place of -inf it hides the same keys. What is
// left is a query that sees no key.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Strategy/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {
#define GEN_PASS_DEF_BOUNDMASKS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// What hides a key, in f16 too, and what the lse of a query that sees one is
/// above: scores are at most 2^12.
static constexpr double hidden = -60000, lowestSeen = -30000;

static Value createNumber(OpBuilder &b, Location loc, Type element,
                          double value) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(
      b, loc, type,
      DenseElementsAttr::get(type, b.getFloatAttr(element, value)));
}

/// Whether a mask is known and hides no row of keys whole.
static bool seesKeys(Value mask) {
  auto view = mask.getDefiningOp<ReshapeOp>(); // with the same keys
  auto constant = (view ? view.getX() : mask).getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  if (!elements)
    return false;
  auto isSeen = [](const APFloat &number) {
    return number.convertToDouble() > lowestSeen;
  };
  auto numbers = elements.getValues<APFloat>();
  int64_t keys = cast<ShapedType>(mask.getType()).getShape().back();
  for (int64_t i = 0, e = elements.getNumElements(); i < e; i += keys)
    if (llvm::none_of(
            llvm::make_range(numbers.begin() + i, numbers.begin() + i + keys),
            isSeen))
      return false;
  return true;
}

/// Queries that see no key have result 0, whose gradient is 0.
static void clearUnseen(AttentionOp op) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  Value result = op.getResult(), lse = op.getLse();
  Value seen = CompareOp::create(
      b, loc, Comparison::gt, lse,
      createNumber(b, loc, getElementTypeOrSelf(lse), lowestSeen));
  // [batch, heads, queries] to [batch, queries, heads, 1].
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
    // Layers have one mask.
    llvm::DenseMap<Value, Value> bounded;
    getOperation()->walk([&](AttentionOp op) {
      Value mask = op.getMask();
      if (!mask)
        return;
      Value &own = bounded[mask];
      if (!own) {
        OpBuilder b(op->getContext());
        b.setInsertionPointAfterValue(mask);
        own = MaximumOp::create(
            b, op.getLoc(), mask,
            createNumber(b, op.getLoc(), getElementTypeOrSelf(mask), hidden));
      }
      op.getMaskMutable().assign(own);
      if (!seesKeys(mask))
        clearUnseen(op);
    });
  }
};

} // namespace
