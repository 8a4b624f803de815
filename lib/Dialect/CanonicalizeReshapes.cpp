//===- CanonicalizeReshapes.cpp - places of reshapes and slices -----------===//
//
// Exporters flatten [batch, sequence, width] for a matmul, and add the bias
// before they restore the shape. Elementwise ops that move behind the restoring
// reshape share kernels with later ops, and have the sequence as a dimension.
// Elementwise ops between two matmuls keep the flat shape.
//
// If one matmul computes queries, keys and values, exporters reshape its result
// to [batch, sequence, 3, heads, width], transpose that to [3, ..] and slice it
// there. Slicing before the transpose avoids a dimension of size 1 in front of
// the batch. Slices that cover the whole value become one split.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"
#include "dtc/Dialect/Elementwise.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// The number of dimensions that agree, counted from the last.
static size_t countCommonTail(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  size_t count = 0;
  while (count < a.size() && count < b.size() &&
         a[a.size() - 1 - count] == b[b.size() - 1 - count])
    ++count;
  return count;
}

/// The dimension of size 1 that a reshape of a transpose drops, if it does
/// nothing else; none if it does more, or if the transpose has other users.
/// Prefers to keep the batch, the first dimension of the transpose's operand.
static std::optional<int64_t> getDropped(ReshapeOp reshape) {
  auto transpose = reshape.getX().getDefiningOp<TransposeOp>();
  if (!transpose || !transpose->hasOneUse())
    return std::nullopt;
  ArrayRef<int64_t> from = reshape.getX().getType().getShape();
  ArrayRef<int64_t> to = reshape.getY().getType().getShape();
  std::optional<int64_t> dropped;
  for (int64_t dim : llvm::seq<int64_t>(from.size())) {
    SmallVector<int64_t> rest(from);
    rest.erase(rest.begin() + dim);
    if (from[dim] == 1 && ArrayRef(rest) == to &&
        (!dropped || transpose.getPermutation()[*dropped] == 0))
      dropped = dim;
  }
  return dropped;
}

/// The transpose that a slice or split reads, if all users slice it; else null.
static TransposeOp getTakenApart(Operation *op) {
  if (!isa_and_nonnull<SliceOp, SplitOp>(op))
    return {};
  auto transpose = op->getOperand(0).getDefiningOp<TransposeOp>();
  if (!transpose || !llvm::all_of(transpose->getUsers(), [](Operation *user) {
        return isa<SliceOp, SplitOp>(user);
      }))
    return {};
  return transpose;
}

namespace {

/// reshape(reshape(x)) becomes reshape(x). A reshape to the same shape becomes
/// x.
struct ComposeReshapes : GlobalPattern<ReshapeOp> {
  using GlobalPattern::GlobalPattern;
  LogicalResult rewrite(ReshapeOp op,
                        PatternRewriter &rewriter) const override {
    if (op.getX().getType() == op.getType()) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto first = op.getX().getDefiningOp<ReshapeOp>();
    // A reshape that drops a dimension moves before a transpose first.
    if (!first || getDropped(first) ||
        getTakenApart(first.getX().getDefiningOp()))
      return failure();
    rewriter.modifyOpInPlace(op,
                             [&] { op.getXMutable().assign(first.getX()); });
    return success();
  }
};

/// reshape(f(x, bias)) becomes f(reshape(x), bias), if the other operands
/// broadcast along dimensions that stay, and all users of f reshape it in the
/// same way. The result's shape must follow from x: random numbers have no such
/// operand, and in row[n, 1] + column[n] both operands broadcast.
struct HoistReshape : GlobalPattern<ReshapeOp> {
  using GlobalPattern::GlobalPattern;
  LogicalResult rewrite(ReshapeOp op,
                        PatternRewriter &rewriter) const override {
    Operation *producer = op.getX().getDefiningOp();
    RankedTensorType from = op.getX().getType(), to = op.getY().getType();
    auto isSame = [&](Operation *user) {
      auto reshape = dyn_cast<ReshapeOp>(user);
      return reshape && reshape.getType() == to;
    };
    if (!producer || !isElementwise(producer) ||
        isa<RandomUniformOp, ReshapeOp, TransposeOp>(producer) ||
        !llvm::all_of(producer->getUsers(), isSame))
      return failure();
    size_t tail = countCommonTail(from.getShape(), to.getShape());
    SmallVector<OpOperand *> whole;
    for (OpOperand &operand : producer->getOpOperands()) {
      auto type = cast<RankedTensorType>(operand.get().getType());
      if (type.getShape() == from.getShape())
        whole.push_back(&operand);
      else if (type.getRank() > static_cast<int64_t>(tail))
        return failure();
    }
    if (whole.empty())
      return failure();
    rewriter.setInsertionPoint(producer);
    SmallVector<Operation *> reshapes(producer->getUsers());
    rewriter.modifyOpInPlace(producer, [&] {
      for (OpOperand *operand : whole) {
        auto type = cast<RankedTensorType>(operand->get().getType());
        operand->set(ReshapeOp::create(
            rewriter, op.getLoc(), type.clone(to.getShape()), operand->get()));
      }
      producer->getResult(0).setType(to);
    });
    for (Operation *reshape : reshapes)
      rewriter.replaceOp(reshape, producer->getResults());
    return success();
  }
};

/// reshape(transpose(x)) becomes transpose(reshape(x)), if the reshape drops a
/// dimension of size 1.
struct DropBeforeTranspose : GlobalPattern<ReshapeOp> {
  using GlobalPattern::GlobalPattern;
  LogicalResult rewrite(ReshapeOp op,
                        PatternRewriter &rewriter) const override {
    std::optional<int64_t> dropped = getDropped(op);
    if (!dropped)
      return failure();
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    int64_t gone = permutation[*dropped];
    SmallVector<int64_t> rest;
    for (int64_t from : permutation)
      if (from != gone)
        rest.push_back(from - (from > gone));
    RankedTensorType type = transpose.getX().getType();
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + gone);
    Value moved = ReshapeOp::create(rewriter, op.getLoc(), type.clone(shape),
                                    transpose.getX());
    if (!isIdentityPermutation(rest))
      moved = TransposeOp::create(rewriter, transpose.getLoc(), moved, rest);
    rewriter.replaceOp(op, moved);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// slice(transpose(x)) becomes transpose(slice(x)), if all users slice the
/// transpose; the same for split.
template <typename OpType> struct TakeApartFirst : GlobalPattern<OpType> {
  using GlobalPattern<OpType>::GlobalPattern;
  LogicalResult rewrite(OpType op, PatternRewriter &rewriter) const override {
    TransposeOp transpose = getTakenApart(op);
    if (!transpose)
      return failure();
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(transpose.getX());
      op.setAxis(permutation[op.getAxis()]);
      for (Value part : op->getResults()) {
        auto type = cast<RankedTensorType>(part.getType());
        part.setType(type.clone(applyPermutation(
            type.getShape(), invertPermutationVector(permutation))));
      }
    });
    rewriter.setInsertionPointAfter(op);
    for (Value part : op->getResults()) {
      auto moved =
          TransposeOp::create(rewriter, op->getLoc(), part, permutation);
      rewriter.replaceAllUsesExcept(part, moved, moved);
    }
    return success();
  }
};

/// Limit of a split's parts. A loop over steps slices one step at a time; one
/// split would compute all slices before the first step.
constexpr size_t mostParts = 8;

/// Slices that cover a value become one split, whose gradient is one
/// concatenation. A part may be sliced several times.
struct JoinSlices : GlobalPattern<SliceOp> {
  using GlobalPattern::GlobalPattern;
  LogicalResult rewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Value x = op.getX();
    auto axis = static_cast<int64_t>(op.getAxis());
    SmallVector<SliceOp> slices;
    llvm::SmallSet<int64_t, mostParts> starts;
    for (Operation *user : x.getUsers())
      if (auto slice = dyn_cast<SliceOp>(user);
          slice && slice.getAxis() == op.getAxis() && !slice.getView()) {
        slices.push_back(slice);
        starts.insert(slice.getStart());
        if (starts.size() > mostParts)
          return failure();
      }
    llvm::sort(slices, [](SliceOp a, SliceOp b) {
      return a.getStart() < b.getStart();
    });
    SmallVector<Type> types;
    SmallVector<size_t> parts; // of the slices
    SmallVector<Location> locations;
    int64_t start = 0, end = 0; // of the last part
    for (SliceOp slice : slices) {
      int64_t from = slice.getStart(), size = slice.getType().getDimSize(axis);
      if (from == end) {
        start = from;
        end += size;
        types.push_back(slice.getType());
      } else if (from != start || from + size != end) {
        return failure();
      }
      parts.push_back(types.size() - 1);
      locations.push_back(slice.getLoc());
    }
    if (types.size() < 2 || end != op.getX().getType().getDimSize(axis))
      return failure();
    rewriter.setInsertionPointAfterValue(x);
    auto split = SplitOp::create(rewriter, rewriter.getFusedLoc(locations),
                                 types, x, axis);
    for (auto [slice, part] : llvm::zip_equal(slices, parts))
      rewriter.replaceOp(slice, split.getParts()[part]);
    return success();
  }
};

} // namespace

void dtc::populateReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<ComposeReshapes, HoistReshape, DropBeforeTranspose, JoinSlices,
               TakeApartFirst<SliceOp>, TakeApartFirst<SplitOp>>(
      patterns.getContext());
}
