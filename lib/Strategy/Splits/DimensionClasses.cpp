//===- DimensionClasses.cpp - dimensions that are split together ----------===//
//
// Union-find over (value, dimension).
//
//===----------------------------------------------------------------------===//

#include "DimensionClasses.h"
#include "dtc/Propagation/SplitExpansion.h"

using namespace mlir;
using namespace dtc;

DimensionClasses::DimensionClasses(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attr::input))
      for (int64_t dim : llvm::seq<int64_t>(
               0, cast<ShapedType>(argument.getType()).getRank()))
        setWhole(getNode(argument, dim), nullptr);
  for (Operation &op : function.front().without_terminator())
    addOp(&op);
  for (auto &[op, group] : rivals) {
    for (unsigned &node : group)
      node = find(node);
    llvm::sort(group);
    // An axis cannot split two dimensions of one op.
    for (size_t i = 1; i < group.size(); ++i)
      if (group[i] == group[i - 1])
        setWhole(group[i], op);
    group.erase(llvm::unique(group), group.end());
  }
}

unsigned DimensionClasses::find(unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

unsigned DimensionClasses::getNode(Value value, int64_t dim) {
  auto [it, isNew] = nodes.try_emplace({value, dim}, parents.size());
  if (isNew) {
    parents.push_back(it->second);
    classes.emplace_back();
  }
  return it->second;
}

unsigned DimensionClasses::getClass(Value value, int64_t dim) {
  return find(getNode(value, dim));
}

void DimensionClasses::merge(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return;
  parents[b] = a;
  llvm::append_range(classes[a].sizes, classes[b].sizes);
  if (classes[b].isWhole)
    setWhole(a, classes[b].wholeFor);
  classes[a].isGrouped |= classes[b].isGrouped;
  classes[a].sums += classes[b].sums;
  classes[a].expands |= classes[b].expands;
}

void DimensionClasses::setWhole(unsigned node, Operation *op) {
  DimensionClass &own = classes[find(node)];
  if (!own.isWhole)
    own.wholeFor = op;
  own.isWhole = true;
}

void DimensionClasses::addOp(Operation *op) {
  auto interface = dyn_cast<ShardingRuleInterface>(op);
  if (!interface || (isa<ConstantOp>(op) && op->hasAttr(attr::splitDims)))
    return; // such a constant is made in parts
  ShardingRule rule = interface.getShardingRule();
  auto expansion = dyn_cast<SplitExpansionInterface>(op);
  SmallVector<std::optional<unsigned>> nodeOfFactor(rule.factors.size());
  SmallVector<unsigned> minors; // factors that are minor in some dimension

  auto visit = [&](Value value, const TensorFactors &tensor,
                   std::optional<int64_t> splittable) {
    ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      if (shape[dim] == 1)
        continue;
      unsigned node = getNode(value, dim);
      DimensionClass &own = classes[find(node)];
      // An axis splits the most major factor that is not 1.
      auto isLarge = [&](unsigned factor) {
        return rule.factors[factor].size != 1;
      };
      auto major = llvm::find_if(factors, isLarge);
      if (major == factors.end()) {
        setWhole(node, op);
        continue;
      }
      own.isGrouped |= llvm::count_if(factors, isLarge) > 1;
      const Factor &factor = rule.factors[*major];
      own.sizes.push_back(factor.size);
      own.sums += factor.kind == FactorKind::Sum;
      if (factor.kind == FactorKind::Replicated) {
        bool expands = splittable == static_cast<int64_t>(dim);
        if (!expands)
          setWhole(node, op);
        own.expands |= expands;
      }
      minors.append(std::next(major), factors.end());
      if (nodeOfFactor[*major])
        merge(*nodeOfFactor[*major], node);
      else
        nodeOfFactor[*major] = node;
    }
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    visit(operand, rule.operands[i],
          expansion ? expansion.getSplittableDim(i) : std::nullopt);
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    visit(result, rule.results[i], std::nullopt);

  for (unsigned minor : minors)
    if (nodeOfFactor[minor])
      setWhole(*nodeOfFactor[minor], op);

  SmallVector<unsigned> present;
  for (std::optional<unsigned> node : nodeOfFactor)
    if (node)
      present.push_back(*node);
  if (present.size() > 1)
    rivals.push_back({op, present});
}
