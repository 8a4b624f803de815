//===- DimensionClasses.cpp - dimensions that are split together ----------===//
//
// Union-find over (value, dimension).
//
//===----------------------------------------------------------------------===//

#include "DimensionClasses.h"
#include "dtc/Parallel/SplitExpansion.h"

using namespace mlir;
using namespace dtc;

DimensionClasses::DimensionClasses(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attr::input))
      for (int64_t dim : llvm::seq<int64_t>(
               0, cast<ShapedType>(argument.getType()).getRank()))
        classes[getNode(argument, dim)].isWhole = true;
  for (Operation &op : function.front().without_terminator())
    addOp(&op);
  for (auto &group : rivals) {
    for (unsigned &node : group)
      node = find(node);
    llvm::sort(group);
    // An axis cannot split two dimensions of one op.
    for (size_t i = 1; i < group.size(); ++i)
      if (group[i] == group[i - 1])
        classes[group[i]].isWhole = true;
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
  classes[a].isWhole |= classes[b].isWhole;
  classes[a].sums += classes[b].sums;
  classes[a].expands |= classes[b].expands;
}

void DimensionClasses::addOp(Operation *op) {
  auto interface = dyn_cast<ShardingRuleInterface>(op);
  if (!interface)
    return;
  ShardingRule rule = interface.getShardingRule();
  auto expansion = dyn_cast<SplitExpansionInterface>(op);
  SmallVector<std::optional<unsigned>> nodeOfFactor(rule.factors.size());
  SmallVector<unsigned> minors; // factors that some dimension splits last

  auto visit = [&](Value value, const TensorFactors &tensor,
                   std::optional<int64_t> splittable) {
    ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      if (shape[dim] == 1)
        continue;
      unsigned node = getNode(value, dim);
      DimensionClass &own = classes[find(node)];
      // An axis splits the major factor that is not 1.
      auto major = llvm::find_if(factors, [&](unsigned factor) {
        return rule.factors[factor].size != 1;
      });
      if (major == factors.end()) {
        own.isWhole = true;
        continue;
      }
      const Factor &factor = rule.factors[*major];
      own.sizes.push_back(factor.size);
      own.sums += factor.kind == FactorKind::Sum;
      if (factor.kind == FactorKind::Replicated) {
        bool expands = splittable == static_cast<int64_t>(dim);
        own.isWhole |= !expands;
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
      classes[find(*nodeOfFactor[minor])].isWhole = true;

  SmallVector<unsigned> present;
  for (std::optional<unsigned> node : nodeOfFactor)
    if (node)
      present.push_back(*node);
  if (present.size() > 1)
    rivals.push_back(present);
}
