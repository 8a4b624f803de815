//===- ExpandSplits.cpp - expand ops over a split dimension ---------------===//
//
// Uses SplitExpansionInterface where a dimension is split that an op's sharding
// rule needs whole.
//
//===----------------------------------------------------------------------===//

#include "dtc/Propagation/Propagation.h"

using namespace mlir;
using namespace dtc;

/// Replaces an op with others for a dimension of `size` that axes split.
FailureOr<SmallVector<Value>> Propagation::expand(SplitExpansionInterface op,
                                                  ArrayRef<StringAttr> axes,
                                                  int64_t size) {
  OpBuilder builder(op);
  int64_t parts = 1;
  SmallVector<AxisLayout> splits;
  for (StringAttr axis : axes) {
    int64_t ways = mesh.getSize(axis.getValue());
    parts *= ways;
    if (ways > 1) // with one micro-batch, any place will do
      splits.push_back(AxisLayout::split(axis, 0));
  }
  SmallVector<int64_t> first;
  for (int64_t part : llvm::seq<int64_t>(0, parts))
    first.push_back(part * (size / parts));
  auto type = RankedTensorType::get(parts, builder.getI64Type(),
                                    LayoutAttr::getReplicated(mesh));
  Value starts = ConstantOp::create(
      builder, op->getLoc(), type,
      DenseElementsAttr::get(withLayout(type, {}), ArrayRef(first)));
  starts = reshard(starts, LayoutAttr::getCanonical(mesh, splits), builder,
                   op->getLoc());
  Operation *last = op->getPrevNode();
  SmallVector<Value> results = op.expandSplit(builder, starts);
  op->replaceAllUsesWith(results);
  single.replace(op, last ? last->getNextNode() : &op->getBlock()->front(),
                 results);
  if (failed(propagateNew(last, op)))
    return failure();
  op->erase();
  return results;
}

/// Expands an op if a dimension is split that its rule needs whole. Returns no
/// values otherwise.
FailureOr<SmallVector<Value>>
Propagation::expandIfSplit(SplitExpansionInterface op) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (auto dim = op.getSplittableDim(i))
      if (auto axes = getLayout(operand.getType()).getAxesOfDim(*dim);
          !axes.empty())
        return expand(op, axes,
                      cast<ShapedType>(operand.getType()).getDimSize(*dim));
  Value result = op->getResult(0);
  if (auto dim = op.getSplittableResultDim())
    for (const MeshAxis &axis : mesh.getAxes())
      if (int64_t size = cast<ShapedType>(result.getType()).getDimSize(*dim);
          axis.name != MeshAttr::timeAxis && size % axis.size == 0 &&
          getWantedDim(result, axis.name) == dim)
        return expand(op, axis.name, size);
  return SmallVector<Value>();
}
