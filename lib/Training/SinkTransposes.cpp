//===- SinkTransposes.cpp - images stay channels last ---------------------===//
//
// A convolution of an ONNX model, whose images are channels first, stands
// between two transposes. Those after it move down through elementwise ops,
// reductions and joins until they meet those before the next.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/StepFunction.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtc {
#define GEN_PASS_DEF_SINKTRANSPOSES
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

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

/// What dimensions and axes of an op are channels last; false if the op is none
/// that can change its order of dimensions.
static bool moveAxes(Operation *op) {
  auto moved = [](int64_t axis) { return toFirst[axis]; };
  auto reduction = [&](auto reduce) {
    auto axes = llvm::map_to_vector(reduce.getAxes(), moved);
    llvm::sort(axes);
    reduce.setAxes(axes);
    return true;
  };
  auto range = [&](auto along) {
    along.setAxis(moved(along.getAxis()));
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReduceSumOp, ReduceMaxOp>(reduction)
      .Case<ConcatOp, SplitOp, SliceOp, PadOp>(range)
      .Default([](Operation *other) { return isElementwise(other); });
}

/// f(transpose(x), ...) becomes transpose(f(x, ...)).
static void sink(Operation *op) {
  if (op->getNumResults() == 0 ||
      getType(op->getResult(0)).getRank() != imageRank || !readsImages(op) ||
      !moveAxes(op))
    return;
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(moveChannels(builder, op->getLoc(), operand.get()));
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    RankedTensorType type = getType(result);
    result.setType(type.clone(applyPermutation(type.getShape(), toLast)));
    auto back =
        TransposeOp::create(builder, op->getLoc(), result, ArrayRef(toFirst));
    result.replaceAllUsesExcept(back, back);
  }
}

/// A transpose of a transpose is one, or none.
static void compose(TransposeOp op) {
  auto first = op.getX().getDefiningOp<TransposeOp>();
  if (!first)
    return;
  SmallVector<int64_t> permutation =
      applyPermutation(first.getPermutation(), op.getPermutation());
  if (isIdentityPermutation(permutation)) {
    op.replaceAllUsesWith(first.getX());
    return;
  }
  op.getXMutable().assign(first.getX());
  op.setPermutation(permutation);
}

namespace {

struct SinkTransposes : dtc::impl::SinkTransposesBase<SinkTransposes> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
    if (failed(forward))
      return signalPassFailure();
    for (Operation &op :
         llvm::make_early_inc_range(forward->front().without_terminator())) {
      if (auto transpose = dyn_cast<TransposeOp>(op))
        compose(transpose);
      else
        sink(&op);
    }
    eraseDeadOps(*forward);
  }
};

} // namespace
