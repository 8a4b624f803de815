//===- PropagateLayouts.cpp - layouts of all values -----------------------===//
//
// One forward pass by the ops' sharding rules: a reshard wherever a rule does
// not hold, other ops where a dimension is split that a rule needs whole.
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Parallel/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Layouts for what was built between two ops.
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

/// Replaces an op by others for a dimension of `size` that axes split.
FailureOr<SmallVector<Value>> Propagation::expand(SplitExpansionInterface op,
                                                  ArrayRef<StringAttr> axes,
                                                  int64_t size) {
  OpBuilder builder(op);
  int64_t parts = 1;
  SmallVector<AxisLayout> splits;
  for (StringAttr axis : axes) {
    int64_t ways = mesh.getSize(axis.getValue());
    parts *= ways;
    if (ways > 1) // the only micro-batch may have any place
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

/// A sum of scalars of which only some are partial: the others become partial
/// too, the first part being the whole and the rest zero. So that the sum of
/// many is reduced once.
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

/// Expands an op of which a dimension is split that its rule needs whole;
/// nothing if there is none.
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

/// Splits a value as the plan wants it here; of one that is summed over
/// micro-batches, the sum, or else what is summed.
void Propagation::place(Value value, DictionaryAttr split, bool perMicrobatch) {
  LayoutAttr layout = getLayout(value.getType());
  if (layout.isPartial(MeshAttr::timeAxis) && !perMicrobatch)
    layout = layout.without(MeshAttr::timeAxis);
  for (NamedAttribute entry : split) {
    LayoutAttr wanted =
        addSplit(cast<RankedTensorType>(value.getType()),
                 layout.without(entry.getName().getValue()), entry.getName(),
                 cast<IntegerAttr>(entry.getValue()).getInt());
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
  // What has been reduced is not looked at in parts again.
  for (OpOperand &operand : op->getOpOperands())
    if (Value whole = reduced.lookup(operand.get()))
      operand.set(whole);

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

namespace {

struct PropagateLayouts
    : public dtc::impl::PropagateLayoutsBase<PropagateLayouts> {
  using PropagateLayoutsBase::PropagateLayoutsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PropagateLayoutsBase::getDependentDialects(registry);
    registerSplitExpansions(registry);
  }

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step) {
      getOperation().emitError("expected a function @step");
      return signalPassFailure();
    }
    if (failed(run(step)))
      signalPassFailure();
  }

  LogicalResult run(func::FuncOp step) {
    Block &block = step.getBody().front();
    SignatureEditor signature(step);
    for (BlockArgument argument : block.getArguments()) {
      auto layout = step.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(),
                                                      attr::layout);
      if (!layout)
        return step.emitError("argument ")
               << argument.getArgNumber() << " has no " << attr::layout;
      argument.setType(withLayout(argument.getType(), layout));
      signature.removeArg(argument.getArgNumber(), attr::layout);
    }
    signature.write();
    if (step.getNumArguments() == 0)
      return step.emitError("expected at least one argument");

    MeshAttr mesh = getLayout(block.getArgument(0).getType()).getMesh();
    Propagation propagation(step, mesh, replicasAtLaunch);
    for (BlockArgument argument : block.getArguments())
      if (!step.getArgAttr(argument.getArgNumber(), attr::input))
        propagation.addStored(argument);
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (!isa<ReshardOp>(op) && failed(propagation.propagate(&op)))
        return failure();

    // Parameters, state and gradients leave the step as they lie in it; of all
    // else, parts are reduced.
    llvm::StringMap<LayoutAttr> kept;
    for (BlockArgument argument : block.getArguments())
      for (StringRef key : {attr::parameter, attr::state})
        if (auto name =
                step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), key))
          kept[name] = getLayout(argument.getType());
    Operation *terminator = block.getTerminator();
    OpBuilder builder(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value value = operand.get();
      LayoutAttr layout = getLayout(value.getType()).withoutPartials();
      if (mesh.getSize(MeshAttr::timeAxis) == 1 &&
          !isRecorded(step, operand.getOperandNumber()))
        layout = layout.without(MeshAttr::timeAxis);
      for (StringRef key : {attr::parameter, attr::state, attr::gradient})
        if (auto name = step.getResultAttrOfType<StringAttr>(
                operand.getOperandNumber(), key))
          if (LayoutAttr own = kept.lookup(name))
            layout = own;
      operand.set(propagation.reshard(value, layout, builder, value.getLoc()));
    }
    // Of what was made again in parts, or could not be: it need not be
    // possible.
    eraseDeadOps(step);
    step.setFunctionType(FunctionType::get(&getContext(),
                                           block.getArgumentTypes(),
                                           terminator->getOperandTypes()));
    return success();
  }
};

} // namespace
