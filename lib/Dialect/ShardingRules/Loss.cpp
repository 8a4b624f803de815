//===- Loss.cpp - sharding rules of losses and sums to scalars ------------===//
//
// A loss is a sum over rows, so split rows make it partial.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// The rule of a sum over all dimensions of operands with the same shape.
static ShardingRule sumToScalar(Operation *op) {
  ShardingRule rule;
  auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
  TensorFactors factors;
  for (int64_t size : shape)
    factors.push_back({rule.addFactor(size, FactorKind::Sum)});
  rule.operands.assign(op->getNumOperands(), factors);
  rule.results.emplace_back();
  return rule;
}

ShardingRule CountLabelsOp::getShardingRule() { return sumToScalar(*this); }
ShardingRule SquaredErrorOp::getShardingRule() { return sumToScalar(*this); }
ShardingRule SumSquaresOp::getShardingRule() { return sumToScalar(*this); }

/// The rows of logits and labels correspond. Classes must be whole.
static ShardingRule rowsOfLogits(ArrayRef<int64_t> logits, FactorKind kind) {
  ShardingRule rule;
  TensorFactors labels;
  for (int64_t size : logits.drop_back())
    labels.push_back({rule.addFactor(size, kind)});
  TensorFactors full = labels;
  full.push_back({rule.addFactor(logits.back(), FactorKind::Replicated)});
  rule.operands = {full, labels};
  return rule;
}

ShardingRule CrossEntropyOp::getShardingRule() {
  ShardingRule rule =
      rowsOfLogits(getLogits().getType().getShape(), FactorKind::Sum);
  rule.results.emplace_back();
  return rule;
}

ShardingRule CrossEntropyGradOp::getShardingRule() {
  ShardingRule rule =
      rowsOfLogits(getLogits().getType().getShape(), FactorKind::Parallel);
  rule.operands.emplace_back();
  rule.results = {rule.operands[0]};
  rule.linear = {{2}};
  return rule;
}
