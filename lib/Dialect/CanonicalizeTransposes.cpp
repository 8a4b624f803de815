//===- CanonicalizeTransposes.cpp - channels-last images ------------------===//
//
// Images of an ONNX model are channels first, so a convolution stands between
// two transposes. The transpose after it moves down through elementwise ops,
// reductions and concatenations, until it meets and cancels the next one.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"
#include "dtc/Dialect/Elementwise.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtc;

/// From channels last to channels first, and back.
static constexpr int64_t toFirst[] = {0, 3, 1, 2}, toLast[] = {0, 2, 3, 1};
static constexpr int64_t imageRank = 4;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The channels-last images that a value transposes to channels first; else
/// null.
static Value getImages(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  return transpose && transpose.getPermutation() == ArrayRef(toFirst)
             ? transpose.getX()
             : Value();
}

/// Whether the op can be computed channels last: all operands of the result's
/// size are transposed images, and there is at least one.
static bool readsImages(Operation *op) {
  bool found = false;
  for (Value operand : op->getOperands()) {
    if (getImages(operand))
      found = true;
    else if (getType(operand).getNumElements() >=
             getType(op->getResult(0)).getNumElements())
      return false;
  }
  return found;
}

/// Converts an operand that broadcasts to images to channels last.
static Value moveChannels(OpBuilder &builder, Location loc, Value value) {
  if (Value images = getImages(value))
    return images;
  RankedTensorType type = getType(value);
  if (type.getNumElements() == 1)
    return value;
  SmallVector<int64_t> shape(imageRank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  if (type.getRank() < imageRank)
    value = ReshapeOp::create(builder, loc, type.clone(shape), value);
  return TransposeOp::create(builder, loc, value, ArrayRef(toLast));
}

/// Whether an op can be computed with its dimensions in another order.
static bool canMoveAxes(Operation *op) {
  return isa<ReduceSumOp, ReduceMaxOp, ConcatOp, SplitOp, SliceOp, PadOp>(op) ||
         (isElementwise(op) && !isa<TransposeOp>(op));
}

/// Converts the axes in an op's attributes to channels last.
static void moveAxes(Operation *op) {
  auto moved = [](int64_t axis) { return toFirst[axis]; };
  llvm::TypeSwitch<Operation *>(op)
      .Case<ReduceSumOp, ReduceMaxOp>([&](auto reduce) {
        auto axes = llvm::map_to_vector(reduce.getAxes(), moved);
        llvm::sort(axes);
        reduce.setAxes(axes);
      })
      .Case<ConcatOp, SplitOp, SliceOp, PadOp>(
          [&](auto along) { along.setAxis(moved(along.getAxis())); });
}

namespace {

/// f(transpose(x), ...) becomes transpose(f(x, ...)), for images.
struct SinkTranspose : RewritePattern {
  explicit SinkTranspose(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || !isa<DTCDialect>(op->getDialect()) ||
        getType(op->getResult(0)).getRank() != imageRank || !isGlobal(op) ||
        !readsImages(op) || !canMoveAxes(op))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      moveAxes(op);
      for (OpOperand &operand : op->getOpOperands())
        operand.set(moveChannels(rewriter, op->getLoc(), operand.get()));
      for (OpResult result : op->getResults()) {
        RankedTensorType type = getType(result);
        result.setType(type.clone(applyPermutation(type.getShape(), toLast)));
      }
    });
    rewriter.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      auto back = TransposeOp::create(rewriter, op->getLoc(), result,
                                      ArrayRef(toFirst));
      rewriter.replaceAllUsesExcept(result, back, back);
    }
    return success();
  }
};

/// transpose(transpose(x)) becomes one transpose, or x.
struct ComposeTransposes : GlobalPattern<TransposeOp> {
  using GlobalPattern::GlobalPattern;
  LogicalResult rewrite(TransposeOp op,
                        PatternRewriter &rewriter) const override {
    auto first = op.getX().getDefiningOp<TransposeOp>();
    if (!first)
      return failure();
    SmallVector<int64_t> permutation =
        applyPermutation(first.getPermutation(), op.getPermutation());
    if (isIdentityPermutation(permutation))
      rewriter.replaceOp(op, first.getX());
    else
      rewriter.modifyOpInPlace(op, [&] {
        op.getXMutable().assign(first.getX());
        op.setPermutation(permutation);
      });
    return success();
  }
};

} // namespace

void dtc::populateTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<SinkTranspose, ComposeTransposes>(patterns.getContext());
}
