//===- Rows.cpp - values of the positions of an axis, as rows -------------===//
//
// dtc.terms makes a dimension of what the positions of an axis have, and
// dtc.own_row gives each its row back. Both are views. Rows move between
// positions by collective permutes.
//
//===----------------------------------------------------------------------===//

#include "dtc/Propagation/Propagation.h"

using namespace mlir;
using namespace dtc;

StringAttr Propagation::findWorkers(func::FuncOp step, MeshAttr mesh) {
  for (BlockArgument argument : step.getArguments())
    if (LayoutAttr layout = getLayout(argument.getType()))
      for (const AxisLayout &entry : layout.getEntries())
        if (entry.isEach() && mesh.getSize(entry.axis.getValue()) > 1)
          return entry.axis;
  return {};
}

bool Propagation::findPushed(func::FuncOp step) {
  return !step.getOps<PushedOp>().empty();
}

/// Whether each worker has a value of its own.
bool Propagation::isOfEach(LayoutAttr layout) const {
  std::optional<AxisLayout> entry =
      workers ? layout.getEntry(workers) : std::nullopt;
  return entry && entry->isEach();
}

/// A value that all workers have, as that of each.
Value Propagation::giveAll(Value value, LayoutAttr layout, OpBuilder &builder,
                           Location location) {
  Value whole =
      reshard(value, layout.without(workers.getValue()), builder, location);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = {mesh.getSize(workers.getValue())};
  llvm::append_range(shape, type.getShape());
  auto rows = BroadcastOp::create(
      builder, location,
      RankedTensorType::get(shape, type.getElementType(),
                            getLayoutOfTerms(layout, workers)),
      whole);
  single.note(rows);
  auto own = OwnRowOp::create(builder, location, withLayout(type, layout), rows,
                              workers);
  single.note(own);
  return own;
}

/// Completes the sums of the operand over other axes than that of its terms.
LogicalResult Propagation::propagateTerms(TermsOp op) {
  StringAttr axis = op.getAxisAttr();
  LayoutAttr own = getLayout(op.getX().getType());
  LayoutAttr whole =
      own.withoutPartials().without({axis.getValue(), MeshAttr::timeAxis});
  OpBuilder builder(op);
  Location loc = op.getLoc();
  std::optional<AxisLayout> entry = own.getEntry(axis);
  bool isSum =
      entry && entry->isPartial() && entry->reduction == Reduction::sum;
  if (isSum || (entry && entry->isEach())) {
    SmallVector<AxisLayout> entries(whole.getEntries());
    entries.push_back(*entry);
    LayoutAttr layout = LayoutAttr::getCanonical(mesh, entries);
    op.setOperand(reshard(op.getX(), layout, builder, loc));
    op.getY().setType(
        withLayout(op.getY().getType(), getLayoutOfTerms(layout, axis)));
    single.note(op);
    return success();
  }
  if (axis == workers)
    return op.emitOpError("takes a value that all workers have, expected one "
                          "that is each on axis ")
           << axis.getValue();
  // All ranks have the sum.
  op.emitWarning("--compress and --sync save no time for some gradients: the "
                 "model mixes the samples of a batch, so ranks sum these "
                 "gradients before they are exchanged");
  Value x = reshard(op.getX(), whole, builder, loc);
  auto scalar =
      RankedTensorType::get({}, getElementTypeOrSelf(op.getX().getType()));
  Operation *before = op->getPrevNode();
  Value share = ConstantOp::create(
      builder, loc, scalar,
      DenseElementsAttr::get(
          scalar, builder.getFloatAttr(
                      scalar.getElementType(),
                      1.0 / double(op.getY().getType().getDimSize(0)))));
  Value term = MulOp::create(builder, loc, x, share);
  Value terms = BroadcastOp::create(builder, loc,
                                    withLayout(op.getY().getType(), {}), term);
  if (failed(propagateNew(before, op)))
    return failure();
  op.getY().replaceAllUsesWith(
      reshard(terms, getLayoutOfTerms(whole, axis), builder, loc));
  return success();
}

/// Splits the rows over the axis.
LogicalResult Propagation::propagateOwnRow(OwnRowOp op) {
  StringAttr axis = op.getAxisAttr();
  LayoutAttr rows = getLayout(op.getX().getType()).withoutPartials();
  std::optional<AxisLayout> entry = rows.getEntry(axis);
  if (!entry || entry->dim != 0)
    rows = addSplit(op.getX().getType(), rows.without(axis.getValue()), axis,
                    /*dim=*/0);
  if (!rows)
    return op.emitOpError("has rows that axis ")
           << axis.getValue() << " does not divide: " << op.getX().getType();
  OpBuilder builder(op);
  op.setOperand(reshard(op.getX(), rows, builder, op.getLoc()));
  SmallVector<AxisLayout> entries;
  for (AxisLayout split : rows.getEntries()) {
    if (split.axis == axis)
      continue;
    if (split.hasDim())
      --split.dim;
    entries.push_back(split);
  }
  LayoutAttr row = addEach(LayoutAttr::getCanonical(mesh, entries), axis);
  op.getY().setType(withLayout(op.getY().getType(), row));
  single.note(op);
  return success();
}

LogicalResult Propagation::propagatePermutation(PermuteRowsOp op) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  SmallVector<StringAttr> axes = getLayout(type).getAxesOfDim(0);
  if (axes.size() != 1 || getLocalType(type).getDimSize(0) != 1)
    return op.emitOpError("takes ")
           << type
           << ", expected an axis that splits dimension 0 into single "
              "rows";
  OpBuilder builder(op);
  auto moved = CollectivePermuteOp::create(
      builder, op.getLoc(), type, op.getX(), builder.getArrayAttr({axes[0]}),
      op.getSources());
  single.note(moved);
  op.getY().replaceAllUsesWith(moved.getY());
  return success();
}

LogicalResult Propagation::propagatePushed(PushedOp op) {
  StringAttr axis = op.getAxisAttr();
  LayoutAttr own = getLayout(op.getX().getType());
  std::optional<AxisLayout> entry = own.getEntry(axis);
  if (!entry || !entry->isEach())
    return op.emitOpError("takes a value that all workers have, expected one "
                          "that is each on axis ")
           << axis.getValue();
  op.getY().setType(
      withLayout(op.getY().getType(), own.without(axis.getValue())));
  single.note(op);
  return success();
}
