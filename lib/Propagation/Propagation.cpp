//===- Propagation.cpp - layouts of one op after the other ----------------===//
//
// Replaces an op where a dimension is split that its rule needs whole. Fits the
// operands of all other ops and gives results layouts.
//
//===----------------------------------------------------------------------===//

#include "dtc/Propagation/Propagation.h"

using namespace mlir;
using namespace dtc;

/// Gives layouts to the ops that were built between two ops.
LogicalResult Propagation::propagateNew(Operation *before, Operation *op) {
  SmallVector<Operation *> built;
  for (Operation *next = before ? before->getNextNode()
                                : &op->getBlock()->front();
       next != op; next = next->getNextNode())
    built.push_back(next);
  for (Operation *next : built)
    if (!isa<ReshardOp>(next) && failed(propagate(next)))
      return failure();
  return success();
}

/// Makes all operands of a sum of scalars partial if only some are: the first
/// part gets the whole value and the others zero. Then a sum of many terms is
/// reduced once.
LogicalResult Propagation::makePartial(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  for (const MeshAxis &axis : mesh.getAxes()) {
    auto isPartial = [&](Value value) {
      LayoutAttr layout = getLayout(value.getType());
      auto entry = layout.getEntry(axis.name);
      return !layout.isSplit(MeshAttr::timeAxis) && entry &&
             entry->isPartial() && entry->reduction == Reduction::sum;
    };
    if (axis.name == MeshAttr::timeAxis ||
        llvm::none_of(op->getOperands(), isPartial))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isPartial(value))
        continue;
      auto scalar =
          withLayout(cast<RankedTensorType>(value.getType()), LayoutAttr());
      Value parts = getParts(axis.name, builder, loc);
      Operation *before = op->getPrevNode();
      auto zeroOf = [&](Type element) {
        auto type = RankedTensorType::get({}, element);
        return ConstantOp::create(
            builder, loc, type,
            DenseElementsAttr::get(type, builder.getZeroAttr(element)));
      };
      Value isFirst = CompareOp::create(builder, loc, Comparison::eq, parts,
                                        zeroOf(builder.getI64Type()));
      Value sum =
          ReduceSumOp::create(builder, loc,
                              SelectOp::create(builder, loc, isFirst, value,
                                               zeroOf(scalar.getElementType())),
                              ArrayRef<int64_t>{0});
      operand.set(ReshapeOp::create(builder, loc, scalar, sum));
      if (failed(propagateNew(before, op)))
        return failure();
    }
  }
  return success();
}

/// Splits a value as the plan requires. If the value is summed over
/// micro-batches, splits the sum, or else the summed value.
void Propagation::place(Value value, DictionaryAttr split, bool perMicrobatch) {
  LayoutAttr layout = getLayout(value.getType());
  if (layout.isPartial(MeshAttr::timeAxis) && !perMicrobatch)
    layout = layout.without(MeshAttr::timeAxis);
  for (NamedAttribute entry : split) {
    LayoutAttr whole = layout.without(entry.getName().getValue());
    int64_t dim = cast<IntegerAttr>(entry.getValue()).getInt();
    LayoutAttr wanted = dim < 0
                            ? whole
                            : addSplit(cast<RankedTensorType>(value.getType()),
                                       whole, entry.getName(), dim);
    if (wanted)
      layout = wanted;
  }
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Value moved = reshard(value, layout, builder, value.getLoc());
  if (layout.isPartial(MeshAttr::timeAxis))
    moved.getDefiningOp()->setAttr(attr::perMicrobatch, builder.getUnitAttr());
  value.replaceUsesWithIf(
      moved, [](OpOperand &use) { return !isa<ReshardOp>(use.getOwner()); });
}

/// Moves the split by an axis to another dimension.
void Propagation::moveSplit(Operation *op, OpOperand &operand, StringAttr axis,
                            int64_t dim) {
  LayoutAttr layout = getLayout(operand.get().getType());
  if (!layout.isSplit(axis))
    return;
  auto type = cast<RankedTensorType>(operand.get().getType());
  OpBuilder builder(op);
  if (LayoutAttr moved =
          addSplit(type, layout.without(axis.getValue()), axis, dim))
    operand.set(reshard(operand.get(), moved, builder, op->getLoc()));
}

/// Rows are split by groups, and slots by experts, over the axis of the
/// experts.
LogicalResult Propagation::propagateToSlots(Operation *op, StringAttr axis) {
  if (failed(infer(op)))
    return failure();
  Value slots = op->getResult(0);
  if (getLayout(slots.getType()).isSplit(axis)) {
    Builder builder(op->getContext());
    place(slots,
          builder.getDictionaryAttr(
              builder.getNamedAttr(axis, builder.getI64IntegerAttr(0))),
          /*perMicrobatch=*/false);
  }
  return success();
}

LogicalResult Propagation::propagate(Operation *op) {
  // Use the reduced version of an operand if there is one.
  for (OpOperand &operand : op->getOpOperands())
    if (Value whole = reduced.lookup(operand.get()))
      operand.set(whole);

  if (auto terms = dyn_cast<TermsOp>(op))
    return propagateTerms(terms);
  if (auto row = dyn_cast<OwnRowOp>(op))
    return propagateOwnRow(row);
  if (auto rows = dyn_cast<PermuteRowsOp>(op))
    return propagatePermutation(rows);
  if (auto pushed = dyn_cast<PushedOp>(op))
    return propagatePushed(pushed);
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return propagateToSlots(op, dispatch.getAxisAttr());
  if (auto counts = dyn_cast<CountRowsOp>(op))
    return propagateToSlots(op, counts.getAxisAttr());
  if (auto combine = dyn_cast<CombineOp>(op))
    moveSplit(op, combine.getSlotsMutable(), combine.getAxisAttr(), 1);
  auto split = op->getAttrOfType<DictionaryAttr>(attr::splitDims);
  op->removeAttr(attr::splitDims);
  bool perMicrobatch = bool(op->removeAttr(attr::perMicrobatch));
  if (auto expansion = dyn_cast<SplitExpansionInterface>(op)) {
    FailureOr<SmallVector<Value>> results = expandIfSplit(expansion);
    if (failed(results))
      return failure();
    if (!results->empty()) {
      if (split)
        place(single.getSum(results->front()), split, perMicrobatch);
      return success();
    }
  }

  bool isScalarSum =
      isa<AddOp>(op) &&
      cast<ShapedType>(op->getResult(0).getType()).getRank() == 0;
  if (isScalarSum && failed(makePartial(op)))
    return failure();
  if (failed(infer(op)))
    return failure();
  if (isDrawn(op))
    drawn.insert(op->getResult(0));
  if (op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), [&](Value v) {
        return stored.contains(v);
      }))
    stored.insert(op->result_begin(), op->result_end());
  if (split)
    place(single.getSum(op->getResult(0)), split, perMicrobatch);
  return success();
}
