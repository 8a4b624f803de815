//===- HoistSlices.cpp - take apart first, transpose then -----------------===//
//
// Attentions whose queries, keys and values are one product make [batch,
// sequence, 3, heads, width] of it, transpose that to [3, ..], and take it
// apart there. Taken apart where it was made, no part needs a dimension of size
// 1 before its batch.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/Passes.h"
#include "dtc/Training/StepFunction.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace dtc {
#define GEN_PASS_DEF_HOISTSLICES
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// slice(transpose(x)) becomes transpose(slice(x)), if nothing needs the whole
/// of the transpose.
template <typename OpType> static bool hoistSlice(OpType op) {
  auto transpose = op.getX().template getDefiningOp<TransposeOp>();
  if (!transpose || !llvm::all_of(transpose->getUsers(), [](Operation *user) {
        return isa<SliceOp, SplitOp>(user);
      }))
    return false;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  op.getXMutable().assign(transpose.getX());
  op.setAxis(permutation[op.getAxis()]);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value part : op->getResults()) {
    auto type = cast<RankedTensorType>(part.getType());
    SmallVector<int64_t> shape(type.getRank());
    for (auto [dim, from] : llvm::enumerate(permutation))
      shape[from] = type.getDimSize(dim);
    part.setType(type.clone(shape));
    auto moved = TransposeOp::create(builder, op->getLoc(), part, permutation);
    part.replaceAllUsesExcept(moved, moved);
  }
  if (transpose->use_empty())
    transpose.erase();
  return true;
}

/// The dimension of size 1 that a reshape of a transpose leaves out, doing no
/// more; none if there is no such. The batch, the first dimension of what is
/// transposed, stays if there is a choice.
static std::optional<int64_t> getDropped(ReshapeOp reshape,
                                         ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> from = reshape.getX().getType().getShape();
  ArrayRef<int64_t> to = reshape.getY().getType().getShape();
  std::optional<int64_t> dropped;
  for (int64_t dim : llvm::seq<int64_t>(from.size())) {
    SmallVector<int64_t> rest(from);
    rest.erase(rest.begin() + dim);
    if (from[dim] == 1 && ArrayRef(rest) == to &&
        (!dropped || permutation[*dropped] == 0))
      dropped = dim;
  }
  return dropped;
}

/// reshape(transpose(x)) becomes transpose(reshape(x)) where the reshape leaves
/// out a dimension of size 1.
static bool hoistReshape(ReshapeOp reshape) {
  auto transpose = reshape.getX().getDefiningOp<TransposeOp>();
  if (!transpose || !transpose->hasOneUse())
    return false;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  std::optional<int64_t> dropped = getDropped(reshape, permutation);
  if (!dropped)
    return false;
  int64_t gone = permutation[*dropped];
  SmallVector<int64_t> rest;
  for (int64_t from : permutation)
    if (from != gone)
      rest.push_back(from - (from > gone));
  RankedTensorType type = transpose.getX().getType();
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + gone);
  OpBuilder builder(reshape);
  auto smaller = ReshapeOp::create(builder, reshape.getLoc(), type.clone(shape),
                                   transpose.getX());
  Value moved = smaller;
  if (!isIdentityPermutation(rest))
    moved = TransposeOp::create(builder, transpose.getLoc(), smaller, rest);
  reshape.replaceAllUsesWith(moved);
  reshape.erase();
  transpose.erase();
  return true;
}

namespace {

struct HoistSlices : dtc::impl::HoistSlicesBase<HoistSlices> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
    if (failed(forward))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    for (Operation &op : forward->front())
      if (isa<SliceOp, SplitOp, ReshapeOp>(op))
        ops.push_back(&op);
    // In program order: a reshape follows the slice that leaves it one element.
    for (Operation *op : ops) {
      if (auto slice = dyn_cast<SliceOp>(op))
        while (hoistSlice(slice))
          ;
      else if (auto split = dyn_cast<SplitOp>(op))
        while (hoistSlice(split))
          ;
      else
        hoistReshape(cast<ReshapeOp>(op));
    }
  }
};

} // namespace
