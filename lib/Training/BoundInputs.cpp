//===- BoundInputs.cpp - the values that integer inputs may have ----------===//
//
// Kernels do not check indices; the training program checks its data by what
// this pass notes.
//
//===----------------------------------------------------------------------===//

#include "BoundInputs.h"
#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

namespace {

struct Bound {
  int64_t upper = INT64_MAX;
  std::optional<int64_t> ignored;
};

/// The tightest bound among the uses of a value and of its other shapes.
void collect(Value value, Bound &bound) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (auto lookup = dyn_cast<GatherOp>(op)) {
      if (use.get() == lookup.getIndices())
        bound.upper = std::min(
            bound.upper,
            lookup.getTable().getType().getDimSize(lookup.getBatchDims()));
    } else if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
      if (use.get() == scatter.getIndices())
        bound.upper = std::min(
            bound.upper, scatter.getType().getDimSize(scatter.getBatchDims()));
    } else if (auto loss = dyn_cast<CrossEntropyOp>(op)) {
      bound.upper =
          std::min(bound.upper, loss.getLogits().getType().getShape().back());
      bound.ignored = loss.getIgnoreIndex();
    } else if (isa<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, SplitOp,
                   CastOp>(op)) {
      for (Value result : op->getResults())
        if (!getElementTypeOrSelf(result).isInteger(1))
          collect(result, bound);
    }
  }
}

} // namespace

void dtc::boundInputs(func::FuncOp step) {
  Builder builder(step.getContext());
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (!step.getArgAttr(i, attr::input) ||
        !isa<IntegerType>(getElementTypeOrSelf(argument)))
      continue;
    Bound bound;
    collect(argument, bound);
    if (bound.upper != INT64_MAX)
      step.setArgAttr(i, attr::bound, builder.getI64IntegerAttr(bound.upper));
    if (bound.ignored)
      step.setArgAttr(i, attr::ignore,
                      builder.getI64IntegerAttr(*bound.ignored));
  }
}
