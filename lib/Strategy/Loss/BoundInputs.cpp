//===- BoundInputs.cpp - bounds of integer inputs -------------------------===//
//
// Kernels do not check indices. The training program checks its data against
// the bounds that this pass records. Columns of an input may index different
// tables.
//
//===----------------------------------------------------------------------===//

#include "BoundInputs.h"
#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace dtc;

static bool isLookup(Operation *op) {
  return isa<GatherOp, ScatterAddOp, GroupedMatMulOp, CrossEntropyOp>(op);
}

/// The results of an op that are indices if its operand is, because the op only
/// moves its elements.
static SmallVector<OpResult> getIndices(Operation *op) {
  if (!isa<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, SplitOp, CastOp>(op))
    return {};
  return llvm::filter_to_vector(op->getResults(), [](Value result) {
    Type element = getElementTypeOrSelf(result);
    return element.isInteger() && !element.isInteger(1);
  });
}

/// Whether an op for which `isOne` holds reads indices.
static bool areReadBy(Value indices,
                      llvm::function_ref<bool(Operation *)> isOne) {
  return llvm::any_of(indices.getUsers(), [&](Operation *user) {
    return isOne(user) || llvm::any_of(getIndices(user), [&](Value result) {
             return areReadBy(result, isOne);
           });
  });
}

namespace {

constexpr int64_t none = INT64_MAX;

/// The ops that look up the elements of an input. If each of them looks up the
/// whole input, one element stands for all.
class InputUses {
public:
  explicit InputUses(BlockArgument argument)
      : isCut(areReadBy(
            argument, [](Operation *op) { return isa<SliceOp, SplitOp>(op); })),
        uppers(isCut ? cast<ShapedType>(argument.getType()).getNumElements()
                     : 1,
               none) {
    follow(argument, llvm::to_vector(llvm::seq<int64_t>(0, uppers.size())));
  }

  bool isCut;
  /// The tightest bound of each element, or `none`.
  SmallVector<int64_t, 0> uppers;
  std::optional<int64_t> ignored;

private:
  void follow(Value value, ArrayRef<int64_t> elements);
  void restrict(ArrayRef<int64_t> elements, int64_t upper) {
    for (int64_t element : elements)
      uppers[element] = std::min(uppers[element], upper);
  }
};

} // namespace

/// The elements of an op's operand that its result has. Element (i0, i1, ...)
/// of the result is at first + step[0] * i0 + step[1] * i1 ... in the operand.
static SmallVector<int64_t, 0> select(Operation *op, OpResult result,
                                      ArrayRef<int64_t> elements) {
  auto from = cast<ShapedType>(op->getOperand(0).getType());
  auto to = cast<ShapedType>(result.getType());
  SmallVector<int64_t> strides = computeStrides(from.getShape());
  SmallVector<int64_t> steps = strides;
  int64_t first = 0;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    steps = applyPermutation(strides, transpose.getPermutation());
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    first = slice.getStart() * strides[slice.getAxis()];
  } else if (auto split = dyn_cast<SplitOp>(op)) {
    for (Value part : split.getParts().take_front(result.getResultNumber()))
      first += cast<ShapedType>(part.getType()).getDimSize(split.getAxis()) *
               strides[split.getAxis()];
  } else if (isa<BroadcastOp>(op)) {
    for (auto [step, size] : llvm::zip(steps, from.getShape()))
      if (size == 1)
        step = 0;
    steps.insert(steps.begin(), to.getRank() - from.getRank(), 0);
  } else { // in the same order
    return SmallVector<int64_t, 0>(elements);
  }
  SmallVector<int64_t> places = computeStrides(to.getShape());
  SmallVector<int64_t, 0> selected;
  for (int64_t i : llvm::seq(to.getNumElements()))
    selected.push_back(
        elements[first + linearize(delinearize(i, places), steps)]);
  return selected;
}

void InputUses::follow(Value value, ArrayRef<int64_t> elements) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (auto lookup = dyn_cast<GatherOp>(op)) {
      if (use.get() == lookup.getIndices())
        restrict(elements,
                 lookup.getTable().getType().getDimSize(lookup.getBatchDims()));
    } else if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
      if (use.get() == scatter.getIndices())
        restrict(elements,
                 scatter.getType().getDimSize(scatter.getBatchDims()));
    } else if (auto product = dyn_cast<GroupedMatMulOp>(op)) {
      restrict(elements, product.getWeights().getType().getDimSize(0));
    } else if (auto loss = dyn_cast<CrossEntropyOp>(op)) {
      restrict(elements, loss.getLogits().getType().getShape().back());
      ignored = loss.getIgnoreIndex();
    } else {
      for (OpResult result : getIndices(op))
        follow(result, isCut ? select(op, result, elements)
                             : SmallVector<int64_t, 0>(elements));
    }
  }
}

/// The bounds of a sample's elements, where dimension 0 is the batch: one bound
/// if all are equal, none if there is none.
static SmallVector<int64_t> getSampleBounds(ArrayRef<int64_t> uppers,
                                            int64_t sampleElements) {
  SmallVector<int64_t> bounds(uppers.take_front(sampleElements));
  for (auto [i, upper] : llvm::enumerate(uppers))
    bounds[i % sampleElements] = std::min(bounds[i % sampleElements], upper);
  if (llvm::all_equal(bounds))
    bounds.truncate(1);
  if (bounds == ArrayRef(none))
    bounds.clear();
  llvm::replace(bounds, none, int64_t(0));
  return bounds;
}

void dtc::boundInputs(func::FuncOp step) {
  Builder builder(step.getContext());
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto type = cast<ShapedType>(argument.getType());
    if (!step.getArgAttr(i, attr::input) ||
        !isa<IntegerType>(type.getElementType()) || type.getRank() == 0)
      continue;
    if (!areReadBy(argument, isLookup))
      continue;
    InputUses uses(argument);
    SmallVector<int64_t> bounds = getSampleBounds(
        uses.uppers,
        uses.isCut ? type.getNumElements() / type.getDimSize(0) : 1);
    if (!bounds.empty())
      step.setArgAttr(i, attr::bound, builder.getDenseI64ArrayAttr(bounds));
    if (uses.ignored)
      step.setArgAttr(i, attr::ignore,
                      builder.getI64IntegerAttr(*uses.ignored));
  }
}
