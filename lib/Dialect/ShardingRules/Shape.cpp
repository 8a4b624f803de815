//===- Shape.cpp - sharding rules of data movement ------------------------===//
//
// Reshapes group factors. Slices and concatenations need their own dimension
// whole.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

ShardingRule ConstantOp::getShardingRule() {
  ShardingRule rule;
  rule.results.emplace_back(getResult().getType().getRank());
  return rule;
}

/// Cuts both shapes into common factors from the major end: [32, 128] and
/// [4096] share the factors 32 and 128.
ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> from = getX().getType().getShape();
  ArrayRef<int64_t> to = getY().getType().getShape();
  TensorFactors x(from.size()), y(to.size());
  // A batch of one sample keeps a factor of size 1: its layout stays with the
  // first dimension.
  if (!from.empty() && !to.empty() && (from[0] == 1 || to[0] == 1)) {
    unsigned one = rule.addFactor(1);
    x[0].push_back(one);
    y[0].push_back(one);
  }
  size_t i = 0, j = 0;
  int64_t leftFrom = from.empty() ? 1 : from[0];
  int64_t leftTo = to.empty() ? 1 : to[0];
  while (i < from.size() && j < to.size()) {
    if (leftFrom == 1) {
      leftFrom = ++i < from.size() ? from[i] : 1;
      continue;
    }
    if (leftTo == 1) {
      leftTo = ++j < to.size() ? to[j] : 1;
      continue;
    }
    int64_t size = std::min(leftFrom, leftTo);
    if (leftFrom % size != 0 || leftTo % size != 0) {
      // Shapes such as [6] and [4, 3] share no more factors. The remainder of
      // both is one factor that must be whole.
      unsigned rest = rule.addFactor(leftFrom, FactorKind::Replicated);
      x[i].push_back(rest);
      y[j].push_back(rest);
      break;
    }
    unsigned factor = rule.addFactor(size);
    x[i].push_back(factor);
    y[j].push_back(factor);
    leftFrom /= size;
    leftTo /= size;
  }
  rule.operands.push_back(x);
  rule.results.push_back(y);
  rule.setLinear(Linearity::Jointly);
  return rule;
}

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors x(getX().getType().getRank()), y(x.size());
  for (auto [dim, size] : llvm::enumerate(getX().getType().getShape()))
    x[dim].push_back(rule.addFactor(size));
  for (auto [dim, from] : llvm::enumerate(getPermutation()))
    y[dim] = x[from];
  rule.operands.push_back(x);
  rule.results.push_back(y);
  rule.setLinear(Linearity::Jointly);
  return rule;
}

/// All dimensions correspond. Dimension `axis` changes its size and must be
/// whole.
static ShardingRule alongAxis(Operation *op, int64_t axis) {
  ShardingRule rule;
  auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
  TensorFactors factors(shape.size());
  for (auto [dim, size] : llvm::enumerate(shape))
    if (static_cast<int64_t>(dim) != axis)
      factors[dim].push_back(rule.addFactor(size));
  rule.operands.assign(op->getNumOperands(), factors);
  rule.results.assign(op->getNumResults(), factors);
  rule.setLinear(Linearity::Jointly);
  return rule;
}

ShardingRule SliceOp::getShardingRule() { return alongAxis(*this, getAxis()); }
ShardingRule PadOp::getShardingRule() { return alongAxis(*this, getAxis()); }
ShardingRule SplitOp::getShardingRule() { return alongAxis(*this, getAxis()); }
ShardingRule ConcatOp::getShardingRule() { return alongAxis(*this, getAxis()); }
