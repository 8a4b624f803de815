//===- PropagateLayouts.cpp - layouts of all values -----------------------===//
//
// One forward pass by the ops' sharding rules: a reshard wherever a rule does
// not hold, other ops where a dimension is split that a rule needs whole.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Parallel/Passes.h"
#include "dtc/Parallel/SplitExpansion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Makes the operands of one op fit its rule and gives its results layouts.
class Propagation {
public:
  explicit Propagation(MeshAttr mesh) : mesh(mesh) {}

  /// Says that a value depends on no input: it is stored as it lies.
  void addStored(Value value) { stored.insert(value); }

  LogicalResult propagate(Operation *op);

  /// The value under a layout, by a reshard if need be.
  Value reshard(Value value, LayoutAttr layout, OpBuilder &builder,
                Location location);

private:
  LogicalResult infer(Operation *op);
  FailureOr<Value> expandIfSplit(SplitExpansionInterface op);
  FailureOr<Value> expand(SplitExpansionInterface op, ArrayRef<StringAttr> axes,
                          int64_t size);
  void place(Value value, DictionaryAttr split, bool perMicrobatch);
  LogicalResult makePartial(Operation *op);
  SmallVector<LayoutAttr> fitPartials(Operation *op, const ShardingRule &rule);
  LayoutAttr reduce(Value value, LayoutAttr layout, StringAttr axis);
  FactorAxes chooseAxes(Operation *op, const ShardingRule &rule,
                        ArrayRef<LayoutAttr> operands);
  std::optional<int64_t> getWantedDim(Value value, StringAttr axis,
                                      unsigned depth = 0);
  LogicalResult propagateNew(Operation *before, Operation *op);

  MeshAttr mesh;
  DenseMap<std::pair<Value, LayoutAttr>, Value> resharded;
  DenseSet<Value> stored;
  /// What values of a micro-batch have been reduced to.
  DenseMap<Value, Value> reduced;
};

} // namespace

Value Propagation::reshard(Value value, LayoutAttr layout, OpBuilder &builder,
                           Location location) {
  LayoutAttr own = getLayout(value.getType());
  if (own == layout)
    return value;
  // First the sum alone, which others may want as well.
  bool isScattered =
      llvm::any_of(own.getEntries(), [&](const AxisLayout &entry) {
        return entry.isPartial() && layout.isSplit(entry.axis);
      });
  if (LayoutAttr sum = own.withoutPartials();
      own.hasPartial() && !layout.hasPartial() && sum != layout && !isScattered)
    return reshard(reshard(value, sum, builder, location), layout, builder,
                   location);
  Value &result = resharded[{value, layout}];
  if (result)
    return result;
  // A repeated value is made as it is needed, rather than made whole and cut.
  if (auto repeat = value.getDefiningOp<BroadcastOp>()) {
    std::string error;
    auto inferred = inferResultLayouts(repeat.getShardingRule(), mesh,
                                       {getLayout(repeat.getX().getType())},
                                       error, {layout});
    if (succeeded(inferred) && inferred->front() == layout)
      return result = BroadcastOp::create(builder, location,
                                          withLayout(value.getType(), layout),
                                          repeat.getX());
  }
  result = ReshardOp::create(builder, location,
                             withLayout(value.getType(), layout), value);
  if (own.isSplit(MeshAttr::timeAxis) && own.hasPartial())
    reduced[value] = result;
  if (stored.contains(value))
    stored.insert(result);
  return result;
}

/// The dimension that users of a value want an axis to split, because another
/// operand of theirs is split there.
std::optional<int64_t> Propagation::getWantedDim(Value value, StringAttr axis,
                                                 unsigned depth) {
  constexpr unsigned maxDepth = 4; // a bias, a cast, a residual sum
  auto findFactor = [](const TensorFactors &tensor,
                       unsigned factor) -> std::optional<int64_t> {
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (!factors.empty() && factors.front() == factor)
        return dim;
    return std::nullopt;
  };
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto interface = dyn_cast<ShardingRuleInterface>(user);
    if (!interface)
      continue;
    ShardingRule rule = interface.getShardingRule();
    const TensorFactors &own = rule.operands[use.getOperandNumber()];
    for (auto [i, operand] : llvm::enumerate(user->getOperands())) {
      LayoutAttr layout = getLayout(operand.getType());
      if (i == use.getOperandNumber() || !layout || !layout.isSplit(axis))
        continue;
      const DimFactors &split = rule.operands[i][layout.getEntry(axis)->dim];
      if (!split.empty())
        if (auto dim = findFactor(own, split.front()))
          return dim;
    }
    bool isElementwise = llvm::none_of(rule.factors, [](const Factor &factor) {
      return factor.kind != FactorKind::Parallel;
    });
    if (depth == maxDepth || !isElementwise || user->getNumResults() != 1)
      continue;
    if (auto dim = getWantedDim(user->getResult(0), axis, depth + 1))
      if (const DimFactors &split = rule.results[0][*dim]; !split.empty())
        if (auto mine = findFactor(own, split.front()))
          return mine;
  }
  return std::nullopt;
}

/// The layout without a partial axis: split as users want it, else replicated.
LayoutAttr Propagation::reduce(Value value, LayoutAttr layout,
                               StringAttr axis) {
  LayoutAttr whole = layout.without(axis.getValue());
  std::optional<int64_t> dim = getWantedDim(value, axis);
  if (!dim)
    return whole;
  SmallVector<AxisLayout> entries(whole.getEntries());
  entries.push_back(AxisLayout::split(axis, *dim));
  auto split = LayoutAttr::getCanonical(mesh, entries);
  auto type = cast<RankedTensorType>(value.getType());
  int64_t ways = 1;
  for (StringAttr splitter : split.getAxesOfDim(*dim))
    ways *= mesh.getSize(splitter.getValue());
  return type.getDimSize(*dim) % ways == 0 ? split : whole;
}

/// Whether the op only adds, moves or views its operands.
static bool keepsParts(Operation *op, const ShardingRule &rule,
                       ArrayRef<unsigned> partial) {
  if (partial.size() != op->getNumOperands() || isa<BoundaryOp>(op))
    return false;
  return op->getNumOperands() > 1 ||
         cast<ShapedType>(op->getOperand(0).getType()).getNumElements() ==
             cast<ShapedType>(op->getResult(0).getType()).getNumElements();
}

/// On each axis, keeps the largest set of partial operands that the op is
/// linear in, and reduces the others. What is partial on an axis of ranks alone
/// belongs to a micro-batch and waits for sums only.
SmallVector<LayoutAttr> Propagation::fitPartials(Operation *op,
                                                 const ShardingRule &rule) {
  SmallVector<LayoutAttr> operands;
  for (Type type : op->getOperandTypes())
    operands.push_back(getLayout(type));
  for (const MeshAxis &axis : mesh.getAxes()) {
    auto isPartialSum = [&](unsigned i) {
      auto entry = operands[i].getEntry(axis.name);
      return entry && entry->isPartial() && entry->reduction == Reduction::sum;
    };
    ArrayRef<unsigned> kept;
    for (const auto &set : rule.linear)
      if (llvm::all_of(set, isPartialSum) && set.size() > kept.size())
        kept = set;
    bool isOfMicrobatch =
        axis.name != MeshAttr::timeAxis && llvm::any_of(kept, [&](unsigned i) {
          return operands[i].isSplit(MeshAttr::timeAxis);
        });
    if (isOfMicrobatch && !keepsParts(op, rule, kept))
      kept = {};
    for (auto [i, layout] : llvm::enumerate(operands))
      if (layout.isPartial(axis.name) && !llvm::is_contained(kept, i))
        layout = reduce(op->getOperand(i), layout, axis.name);
  }
  return operands;
}

/// For each factor the axes that the first operand split by any gives it, as
/// far as they can be used once and all results can be written. Stored values
/// come first, and of one operand's factors those that are not summed.
FactorAxes Propagation::chooseAxes(Operation *op, const ShardingRule &rule,
                                   ArrayRef<LayoutAttr> operands) {
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, operands.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    auto rank = [&](unsigned operand) {
      return std::pair(!stored.contains(op->getOperand(operand)), operand);
    };
    return rank(a) < rank(b);
  });
  // What is overwritten keeps its layout.
  if (auto alias = dyn_cast<AliasInterface>(op))
    if (std::optional<Alias> first = alias.getAlias(0);
        first && first->kind == AliasKind::Update &&
        stored.contains(op->getOperand(first->operand)) &&
        isa<BlockArgument>(op->getOperand(first->operand)))
      order = {first->operand};
  FactorAxes axes(rule.factors.size());
  SmallVector<bool> isStored(rule.factors.size());
  for (unsigned i : order) {
    readFactorAxes(rule, rule.operands[i], operands[i], axes);
    if (stored.contains(op->getOperand(i)))
      for (auto [factor, list] : llvm::enumerate(axes))
        isStored[factor] = !list.empty();
  }
  llvm::SmallPtrSet<const void *, 8> used;
  for (const LayoutAttr &layout : operands)
    for (const AxisLayout &entry : layout.getEntries())
      if (entry.isPartial())
        used.insert(entry.axis.getAsOpaquePointer());
  SmallVector<unsigned> factors =
      llvm::to_vector(llvm::seq<unsigned>(0, axes.size()));
  llvm::sort(factors, [&](unsigned a, unsigned b) {
    auto rank = [&](unsigned factor) {
      return std::tuple(!isStored[factor],
                        rule.factors[factor].kind != FactorKind::Parallel,
                        factor);
    };
    return rank(a) < rank(b);
  });
  for (unsigned factor : factors) {
    if (rule.factors[factor].kind == FactorKind::Replicated)
      axes[factor].clear();
    llvm::erase_if(axes[factor], [&](StringAttr axis) {
      return !used.insert(axis.getAsOpaquePointer()).second;
    });
  }
  for (const TensorFactors &tensor :
       llvm::concat<const TensorFactors>(rule.operands, rule.results))
    for (const DimFactors &dim : tensor)
      for (auto [i, factor] : llvm::enumerate(dim)) {
        int64_t left = rule.factors[factor].size;
        for (StringAttr axis : axes[factor])
          left /= mesh.getSize(axis.getValue());
        if (left == 1)
          continue;
        for (unsigned minor : ArrayRef(dim).drop_front(i + 1))
          axes[minor].clear();
        break;
      }
  return axes;
}

LogicalResult Propagation::infer(Operation *op) {
  auto interface = dyn_cast<ShardingRuleInterface>(op);
  if (!interface)
    return op->emitOpError("has no sharding rule");
  ShardingRule rule = interface.getShardingRule();
  SmallVector<LayoutAttr> operands = fitPartials(op, rule);
  OpBuilder builder(op);
  auto setOperands = [&] {
    for (auto [i, layout] : llvm::enumerate(operands))
      op->setOperand(i,
                     reshard(op->getOperand(i), layout, builder, op->getLoc()));
  };
  std::string error;
  FailureOr<SmallVector<LayoutAttr>> results =
      inferResultLayouts(rule, mesh, operands, error);
  if (failed(results)) {
    FactorAxes axes = chooseAxes(op, rule, operands);
    for (auto [i, layout] : llvm::enumerate(operands)) {
      std::optional<SmallVector<AxisLayout>> entries =
          writeFactorAxes(rule, rule.operands[i], mesh, axes);
      if (!entries)
        return op->emitOpError("operand ") << i << " cannot be split alike";
      for (const AxisLayout &entry : layout.getEntries())
        if (entry.isPartial())
          entries->push_back(entry);
      layout = LayoutAttr::getCanonical(mesh, *entries);
    }
    results = inferResultLayouts(rule, mesh, operands, error);
    if (failed(results))
      return op->emitOpError("fits no layout of its operands: ") << error;
  }
  setOperands();
  for (auto [result, layout] : llvm::zip(op->getResults(), *results))
    result.setType(withLayout(result.getType(), layout));
  return success();
}

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
FailureOr<Value> Propagation::expand(SplitExpansionInterface op,
                                     ArrayRef<StringAttr> axes, int64_t size) {
  OpBuilder builder(op);
  int64_t parts = 1;
  SmallVector<AxisLayout> splits;
  for (StringAttr axis : axes) {
    parts *= mesh.getSize(axis.getValue());
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
  Value result = op.expandSplit(builder, starts);
  if (failed(propagateNew(last, op)))
    return failure();
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return result;
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
      auto scalar = cast<RankedTensorType>(value.getType());
      auto type = RankedTensorType::get(axis.size, scalar.getElementType());
      SmallVector<Attribute> parts(axis.size,
                                   builder.getZeroAttr(type.getElementType()));
      parts.front() = builder.getOneAttr(type.getElementType());
      Value first = ConstantOp::create(
          builder, loc, withLayout(type, LayoutAttr::getReplicated(mesh)),
          DenseElementsAttr::get(type, parts));
      first = reshard(
          first,
          LayoutAttr::getCanonical(mesh, {AxisLayout::split(axis.name, 0)}),
          builder, loc);
      Operation *before = op->getPrevNode();
      Value sum = ReduceSumOp::create(builder, loc,
                                      MulOp::create(builder, loc, first, value),
                                      ArrayRef<int64_t>{0});
      operand.set(ReshapeOp::create(builder, loc, withLayout(scalar, {}), sum));
      if (failed(propagateNew(before, op)))
        return failure();
    }
  }
  return success();
}

/// Expands an op of which a dimension is split that its rule needs whole;
/// null if there is none.
FailureOr<Value> Propagation::expandIfSplit(SplitExpansionInterface op) {
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
  return Value();
}

/// Splits a value as the plan wants it here; of one that is summed over
/// micro-batches, the sum, or else what is summed.
void Propagation::place(Value value, DictionaryAttr split, bool perMicrobatch) {
  LayoutAttr layout = getLayout(value.getType());
  if (layout.isPartial(MeshAttr::timeAxis) && !perMicrobatch)
    layout = layout.without(MeshAttr::timeAxis);
  for (NamedAttribute entry : split) {
    SmallVector<AxisLayout> entries(
        layout.without(entry.getName().getValue()).getEntries());
    entries.push_back(AxisLayout::split(
        entry.getName(), cast<IntegerAttr>(entry.getValue()).getInt()));
    layout = LayoutAttr::getCanonical(mesh, entries);
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

  auto split = op->getAttrOfType<DictionaryAttr>(attr::split);
  op->removeAttr(attr::split);
  bool perMicrobatch = bool(op->removeAttr(attr::perMicrobatch));
  if (auto expansion = dyn_cast<SplitExpansionInterface>(op)) {
    FailureOr<Value> result = expandIfSplit(expansion);
    if (failed(result))
      return failure();
    if (*result) {
      if (split)
        place(*result, split, perMicrobatch);
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
  if (op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), [&](Value v) {
        return stored.contains(v);
      }))
    stored.insert(op->result_begin(), op->result_end());
  if (split)
    place(op->getResult(0), split, perMicrobatch);
  return success();
}

namespace {

struct PropagateLayouts
    : public dtc::impl::PropagateLayoutsBase<PropagateLayouts> {
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

    Propagation propagation(
        getLayout(block.getArgument(0).getType()).getMesh());
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
      for (StringRef key : {attr::parameter, attr::state, attr::gradient})
        if (auto name = step.getResultAttrOfType<StringAttr>(
                operand.getOperandNumber(), key))
          if (LayoutAttr own = kept.lookup(name))
            layout = own;
      operand.set(propagation.reshard(value, layout, builder, value.getLoc()));
    }
    step.setFunctionType(FunctionType::get(&getContext(),
                                           block.getArgumentTypes(),
                                           terminator->getOperandTypes()));
    return success();
  }
};

} // namespace
