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

/// Completes the sums of the operand over other axes than that of its terms.
LogicalResult Propagation::propagateTerms(TermsOp op) {
  StringAttr axis = op.getAxisAttr();
  LayoutAttr own = getLayout(op.getX().getType());
  LayoutAttr whole =
      own.withoutPartials().without({axis.getValue(), MeshAttr::timeAxis});
  OpBuilder builder(op);
  Location loc = op.getLoc();
  std::optional<AxisLayout> entry = own.getEntry(axis);
  if (entry && entry->isPartial() && entry->reduction == Reduction::sum) {
    SmallVector<AxisLayout> entries(whole.getEntries());
    entries.push_back(*entry);
    LayoutAttr sum = LayoutAttr::getCanonical(mesh, entries);
    op.setOperand(reshard(op.getX(), sum, builder, loc));
    op.getY().setType(
        withLayout(op.getY().getType(), getLayoutOfTerms(sum, axis)));
    single.note(op);
    return success();
  }
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

LogicalResult Propagation::propagate(Operation *op) {
  // Use the reduced version of an operand if there is one.
  for (OpOperand &operand : op->getOpOperands())
    if (Value whole = reduced.lookup(operand.get()))
      operand.set(whole);

  if (auto terms = dyn_cast<TermsOp>(op))
    return propagateTerms(terms);
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
