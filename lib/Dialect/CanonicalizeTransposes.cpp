//===- CanonicalizeTransposes.cpp - images stay channels last -------------===//
//
// A convolution of an ONNX model, whose images are channels first, stands
// between two transposes. Those after it move down through elementwise ops,
// reductions and joins until they meet those before the next.
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

/// The images that a value has channels first; null if it is no such transpose.
static Value getImages(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  return transpose && transpose.getPermutation() == ArrayRef(toFirst)
             ? transpose.getX()
             : Value();
}

/// Whether the op can be computed channels last: all of its operands that are
/// as large as the result are transposed images, at least one of them.
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

/// An operand that broadcasts to images, channels last.
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

/// Whether an op can have its dimensions in another order.
static bool canMoveAxes(Operation *op) {
  return isa<ReduceSumOp, ReduceMaxOp, ConcatOp, SplitOp, SliceOp, PadOp>(op) ||
         (isElementwise(op) && !isa<TransposeOp>(op));
}

/// What an op says of axes becomes channels last.
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

/// f(transpose(x), ...) becomes transpose(f(x, ...)), of images.
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

/// A transpose of a transpose is one, or none.
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
