//===- Attention.cpp - causal attention of split queries ------------------===//
//
// The position of a query in the whole sequence determines its keys. A mask
// expresses this, and each part builds its own rows of the mask. Keys and
// values are whole.
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include <limits>

using namespace mlir;
using namespace dtc;

/// Builds the mask [1, 1, queries, keys]: negative infinity where the key comes
/// after the query, else the value of the op's mask, or zero without one.
template <typename OpTy>
static Value makeMask(OpTy op, OpBuilder &b, Value starts) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> q = op.getQueries().getType().getShape();
  int64_t queries = q[1], keys = op.getKeys().getType().getDimSize(1);
  int64_t parts = cast<ShapedType>(starts.getType()).getDimSize(0);
  Type integer = b.getI64Type();
  auto count = [&](ArrayRef<int64_t> shape, int64_t size) -> Value {
    auto type = RankedTensorType::get(shape, integer);
    auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, size));
    return ConstantOp::create(b, loc, type,
                              DenseElementsAttr::get(type, ArrayRef(numbers)));
  };
  auto reshape = [&](Value x, ArrayRef<int64_t> shape) -> Value {
    Type element = getElementTypeOrSelf(x);
    return ReshapeOp::create(b, loc, RankedTensorType::get(shape, element), x);
  };
  Value rows = AddOp::create(b, loc, reshape(starts, {parts, 1}),
                             count({1, queries / parts}, queries / parts));
  Value isSeen =
      CompareOp::create(b, loc, Comparison::ge,
                        reshape(rows, {1, 1, queries, 1}), count(keys, keys));
  Type element = getElementTypeOrSelf(op.getQueries());
  auto scalar = [&](double value) -> Value {
    auto type = RankedTensorType::get({}, element);
    return ConstantOp::create(
        b, loc, type,
        DenseElementsAttr::get(type, b.getFloatAttr(element, value)));
  };
  return SelectOp::create(b, loc, isSeen,
                          op.getMask() ? Value(op.getMask()) : scalar(0),
                          scalar(-std::numeric_limits<double>::infinity()));
}

namespace {

template <typename Model, typename OpTy>
struct QueriesExpansion : SplitExpansionInterface::ExternalModel<Model, OpTy> {
  std::optional<int64_t> getSplittableDim(Operation *op,
                                          unsigned operand) const {
    if (operand == 0 && cast<OpTy>(op).getCausal())
      return 1;
    return std::nullopt;
  }
  std::optional<int64_t> getSplittableResultDim(Operation *) const {
    return std::nullopt;
  }
};

struct AttentionExpansion : QueriesExpansion<AttentionExpansion, AttentionOp> {
  SmallVector<Value> expandSplit(Operation *op, OpBuilder &builder,
                                 Value starts) const {
    auto own = cast<AttentionOp>(op);
    return AttentionOp::create(
               builder, op->getLoc(), own.getQueries(), own.getKeys(),
               own.getValues(), makeMask(own, builder, starts),
               own.getScaleAttr(), /*causal=*/UnitAttr(), own.getDividedAttr())
        ->getResults();
  }
};

struct AttentionGradExpansion
    : QueriesExpansion<AttentionGradExpansion, AttentionGradOp> {
  SmallVector<Value> expandSplit(Operation *op, OpBuilder &builder,
                                 Value starts) const {
    auto own = cast<AttentionGradOp>(op);
    return AttentionGradOp::create(
               builder, op->getLoc(), own.getQueries(), own.getKeys(),
               own.getValues(), makeMask(own, builder, starts), own.getResult(),
               own.getLse(), own.getDresult(), own.getScaleAttr(),
               /*causal=*/UnitAttr(), own.getDividedAttr())
        ->getResults();
  }
};

} // namespace

void dtc::registerAttentionExpansions(MLIRContext *context) {
  AttentionOp::attachInterface<AttentionExpansion>(*context);
  AttentionGradOp::attachInterface<AttentionGradExpansion>(*context);
}
