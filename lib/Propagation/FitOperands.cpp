//===- FitOperands.cpp - fit operands to an op's rule ---------------------===//
//
// Inserts a reshard where an operand does not fit. The layouts of results
// follow.
//
//===----------------------------------------------------------------------===//

#include "dtc/Propagation/Propagation.h"

using namespace mlir;
using namespace dtc;

Value Propagation::reshard(Value value, LayoutAttr layout, OpBuilder &builder,
                           Location location) {
  if (getLayout(value.getType()) == layout)
    return value;
  if (Value known = resharded.lookup({value, layout});
      known && getLayout(known.getType()) == layout)
    return known;
  Value made = makeResharded(value, layout, builder, location);
  return resharded[{value, layout}] = made;
}

Value Propagation::makeResharded(Value value, LayoutAttr layout,
                                 OpBuilder &builder, Location location) {
  LayoutAttr own = getLayout(value.getType());
  // Create a repeated value in the needed layout instead of making it whole and
  // slicing it. Complete a sum before repeating it: that moves less data.
  if (canRepeat(value, layout)) {
    auto repeat = value.getDefiningOp<BroadcastOp>();
    Value x =
        reshard(repeat.getX(), getRepeated(repeat, layout), builder, location);
    auto made = BroadcastOp::create(builder, location,
                                    withLayout(value.getType(), layout), x);
    single.note(made);
    return made;
  }
  // Reduce the sum alone first: other users may need it, too.
  bool isScattered =
      llvm::any_of(own.getEntries(), [&](const AxisLayout &entry) {
        return entry.isPartial() && layout.isSplit(entry.axis);
      });
  if (LayoutAttr sum = own.withoutPartials();
      own.hasPartial() && !layout.hasPartial() && sum != layout && !isScattered)
    return reshard(reshard(value, sum, builder, location), layout, builder,
                   location);
  if (drawn.contains(value)) {
    if (Value made = draw(value, layout, builder, location))
      return made;
  } else if (isOfEach(layout) && !isOfEach(own)) {
    return giveAll(value, layout, builder, location);
  }
  // Make values common to all parts of the batch in parts; their sums over
  // other axes then become scatters.
  bool isOfAll = !own.getEntry(MeshAttr::timeAxis) ||
                 mesh.getSize(MeshAttr::timeAxis) == 1;
  if (isOfAll && isCutByBatch(value, layout)) {
    LayoutAttr parts = isScattered ? cutByBatch(own, layout) : layout;
    if (Value made = remake(value, parts, builder, location))
      return reshard(made, layout, builder, location);
  }
  auto moved = ReshardOp::create(builder, location,
                                 withLayout(value.getType(), layout), value);
  single.note(moved);
  if (own.isSplit(MeshAttr::timeAxis) && own.hasPartial())
    reduced[value] = moved;
  if (stored.contains(value))
    stored.insert(moved);
  return moved;
}

/// The dimension that a value's users want an axis to split, because the axis
/// splits another operand of theirs.
std::optional<int64_t> Propagation::getWantedDim(Value value, StringAttr axis,
                                                 unsigned depth) {
  constexpr unsigned maxDepth = 4; // enough for a bias, a cast, a residual sum
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
      if (i == use.getOperandNumber() || !layout || !layout.isSplit(axis) ||
          !layout.getEntry(axis)->hasDim())
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

/// Adds an axis that splits a dimension to a layout. The axis becomes the major
/// split if axes of the batch split pieces of the dimension; otherwise it
/// splits their parts. Returns null if the axis does not divide the dimension.
LayoutAttr Propagation::addSplit(RankedTensorType type, LayoutAttr layout,
                                 StringAttr axis, int64_t dim) {
  int64_t size = mesh.getSize(axis.getValue()), ways = size;
  SmallVector<AxisLayout> entries;
  bool isMajor = false;
  for (AxisLayout entry : layout.getEntries()) {
    if (entry.isSplit() && entry.dim == dim) {
      if (entry.pieces > 1 && !isMajor) {
        if (entry.pieces % size != 0)
          return {};
        entries.push_back(AxisLayout::split(axis, dim));
        entry.pieces /= size;
        isMajor = true;
      }
      ways *= mesh.getSize(entry.axis.getValue()) * entry.pieces;
    }
    entries.push_back(entry);
  }
  if (!isMajor)
    entries.push_back(AxisLayout::split(axis, dim));
  if (type.getDimSize(dim) % ways != 0)
    return {};
  return LayoutAttr::getCanonical(mesh, entries);
}

/// Removes a partial axis from a layout. The axis splits the value as its users
/// want it, or else replicates it. Repeated values are replicated too, as they
/// can follow the other operands.
LayoutAttr Propagation::reduce(Value value, LayoutAttr layout,
                               StringAttr axis) {
  LayoutAttr whole = layout.without(axis.getValue());
  if (axis == MeshAttr::timeAxis || canRepeat(value, whole.withoutPartials()))
    return whole;
  std::optional<int64_t> dim = getWantedDim(value, axis);
  if (!dim)
    return whole;
  LayoutAttr split =
      addSplit(cast<RankedTensorType>(value.getType()), whole, axis, *dim);
  return split ? split : whole;
}

/// Whether the op only adds, moves or views its operands. A gradient, which is
/// partial on an axis of the batch, is also padded to its place in a bucket.
static bool keepsParts(Operation *op, ArrayRef<unsigned> partial,
                       StringRef axis) {
  if (partial.size() != op->getNumOperands() || isa<BoundaryOp>(op))
    return false;
  if (isa<PadOp>(op) && MeshAttr::isOfBatch(axis))
    return true;
  return op->getNumOperands() > 1 ||
         cast<ShapedType>(op->getOperand(0).getType()).getNumElements() ==
             cast<ShapedType>(op->getResult(0).getType()).getNumElements();
}

/// The number of elements to reduce if a partial value stays so in all users,
/// because each sums it up over some dimensions, perhaps after linear
/// elementwise ops; none if some user needs the value itself.
static std::optional<int64_t> countSummed(Value value, unsigned depth = 0) {
  constexpr unsigned maxDepth = 4; // enough for a weight, a cast, a reshape
  int64_t total = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto interface = dyn_cast<ShardingRuleInterface>(user);
    if (!interface || user->getNumResults() != 1 || depth == maxDepth)
      return std::nullopt;
    ShardingRule rule = interface.getShardingRule();
    if (!llvm::is_contained(rule.linear,
                            SmallVector<unsigned>{use.getOperandNumber()}))
      return std::nullopt;
    Value result = user->getResult(0);
    bool moves = llvm::all_of(rule.factors, [](const Factor &factor) {
      return factor.kind == FactorKind::Parallel;
    });
    std::optional<int64_t> summed;
    if (isa<ReduceSumOp>(user))
      summed = cast<ShapedType>(result.getType()).getNumElements();
    else if (moves)
      summed = countSummed(result, depth + 1);
    if (!summed)
      return std::nullopt;
    total += *summed;
  }
  return total;
}

/// Whether fewer elements have to be reduced if an operand stays partial.
static bool shrinks(Operation *op, ArrayRef<unsigned> partial) {
  if (partial.size() != 1)
    return false;
  Value value = op->getOperand(partial.front());
  std::optional<int64_t> summed = countSummed(value);
  return summed && *summed < cast<ShapedType>(value.getType()).getNumElements();
}

/// On each axis, keeps the largest set of partial operands that the op is
/// linear in, and reduces the others. A value that is partial only on an axis
/// of ranks belongs to a micro-batch and stays partial only for sums, or if all
/// of its users sum it up to fewer elements.
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
    // An axis that splits another operand cannot stay partial in this one.
    bool isTaken = llvm::any_of(
        operands, [&](LayoutAttr layout) { return layout.isSplit(axis.name); });
    if (isTaken || (isOfMicrobatch && !keepsParts(op, kept, axis.name) &&
                    !shrinks(op, kept)))
      kept = {};
    for (auto [i, layout] : llvm::enumerate(operands))
      if (layout.isPartial(axis.name) && !llvm::is_contained(kept, i))
        layout = reduce(op->getOperand(i), layout, axis.name);
  }
  return operands;
}

/// Removes axes. The axes after a removed one split pieces.
static void eraseAxes(SmallVector<FactorAxis, 1> &axes, MeshAttr mesh,
                      llvm::function_ref<bool(StringAttr)> isLeftOut) {
  SmallVector<FactorAxis, 1> left;
  int64_t pieces = 1;
  for (FactorAxis own : axes) {
    pieces *= own.pieces;
    if (isLeftOut(own.axis)) {
      pieces *= mesh.getSize(own.axis.getValue());
      continue;
    }
    if (MeshAttr::isOfBatch(own.axis.getValue()))
      own.pieces = pieces;
    left.push_back(own);
    pieces = 1;
  }
  axes = left;
}

/// Chooses the axes of each factor: those of the first operand that is split by
/// the factor, if each axis is used once and all results can be written. Stored
/// values come first. Among one operand's factors, those that are not summed
/// come first.
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
  // An overwritten operand keeps its layout.
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
    eraseAxes(axes[factor], mesh, [&](StringAttr axis) {
      return !used.insert(axis.getAsOpaquePointer()).second;
    });
  }
  for (const TensorFactors &tensor :
       llvm::concat<const TensorFactors>(rule.operands, rule.results))
    for (const DimFactors &dim : tensor)
      for (auto [i, factor] : llvm::enumerate(dim)) {
        int64_t left = rule.factors[factor].size;
        for (const FactorAxis &own : axes[factor])
          left /= mesh.getSize(own.axis.getValue());
        if (left == 1)
          continue;
        for (unsigned minor : ArrayRef(dim).drop_front(i + 1))
          eraseAxes(axes[minor], mesh, [](StringAttr axis) {
            return !MeshAttr::isOfBatch(axis.getValue());
          });
        break;
      }
  return axes;
}

/// Keeps the mb entry of `own` if mb has size 1, because no data moves. A
/// repeated value takes the wanted entry.
LayoutAttr Propagation::keepTime(Value value, LayoutAttr own,
                                 LayoutAttr layout) {
  if (mesh.getSize(MeshAttr::timeAxis) > 1 || canRepeat(value, layout))
    return layout;
  SmallVector<AxisLayout> entries(
      layout.without(MeshAttr::timeAxis).getEntries());
  if (std::optional<AxisLayout> time = own.getEntry(MeshAttr::timeAxis))
    entries.push_back(*time);
  return LayoutAttr::getCanonical(mesh, entries);
}

/// An op in the only micro-batch needs no sums over micro-batches. Exceptions
/// are sums of inputs, which are known before, and a sum over stages, which is
/// taken once.
void Propagation::fitTime(Operation *op) {
  if (mesh.getSize(MeshAttr::timeAxis) > 1)
    return;
  single.joinOperands(op);
  bool isOfMicrobatch = llvm::any_of(op->getOperands(), [](Value operand) {
    return getLayout(operand.getType()).isSplit(MeshAttr::timeAxis);
  });
  if (!isOfMicrobatch)
    return;
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    LayoutAttr layout = getLayout(operand.get().getType());
    if (layout.isPartial(MeshAttr::timeAxis) || isa<SumOverStagesOp>(op))
      operand.set(reshard(operand.get(), layout.without(MeshAttr::timeAxis),
                          builder, op->getLoc()));
  }
}

/// Whether operands depend on the only micro-batch and a result does not.
static bool forgetsTime(ArrayRef<LayoutAttr> operands,
                        ArrayRef<LayoutAttr> results) {
  auto isOnTime = [](LayoutAttr layout) {
    return layout.getEntry(MeshAttr::timeAxis).has_value();
  };
  return llvm::any_of(operands, isOnTime) && !llvm::all_of(results, isOnTime);
}

LogicalResult Propagation::infer(Operation *op) {
  auto interface = dyn_cast<ShardingRuleInterface>(op);
  if (!interface)
    return op->emitOpError("has no sharding rule");
  ShardingRule rule = interface.getShardingRule();
  fitTime(op);
  SmallVector<LayoutAttr> operands = fitPartials(op, rule);
  if (!isDrawn(op))
    drawApart(op, operands);
  OpBuilder builder(op);
  auto setOperands = [&] {
    for (auto [i, layout] : llvm::enumerate(operands))
      op->setOperand(i,
                     reshard(op->getOperand(i), layout, builder, op->getLoc()));
  };
  std::string error;
  // Axes of size 1 and those of workers constrain nothing. But a repeated value
  // that follows the other operands on them need not be made whole.
  bool isFree = llvm::any_of(operands, [](LayoutAttr layout) {
    return llvm::any_of(layout.getEntries(),
                        [](const AxisLayout &entry) { return entry.isEach(); });
  });
  FailureOr<SmallVector<LayoutAttr>> results =
      isFree ? inferResultLayouts(rule, mesh, operands, error)
             : inferExactly(rule, mesh, operands, error);
  // A result without the split dimension depends on the axis as well.
  if (succeeded(results) && forgetsTime(operands, *results))
    results = inferResultLayouts(rule, mesh, operands, error);
  if (failed(results)) {
    FactorAxes axes = chooseAxes(op, rule, operands);
    for (auto [i, layout] : llvm::enumerate(operands)) {
      std::optional<SmallVector<AxisLayout>> entries =
          writeFactorAxes(rule, rule.operands[i], mesh, axes);
      if (!entries)
        return op->emitOpError("operand ")
               << i << " cannot be split like the others";
      for (const AxisLayout &entry : layout.getEntries())
        if (entry.isPartial() || entry.isEach())
          entries->push_back(entry);
      layout = keepTime(op->getOperand(i), layout,
                        LayoutAttr::getCanonical(mesh, *entries));
    }
    results = inferResultLayouts(rule, mesh, operands, error);
    if (failed(results))
      return op->emitOpError("has no layout that fits its operands: ") << error;
  }
  setOperands();
  for (auto [result, layout] : llvm::zip(op->getResults(), *results))
    result.setType(withLayout(result.getType(), layout));
  single.note(op);
  return success();
}
