//===- Normalization.cpp - sharding rules of row-wise ops -----------------===//
//
// Softmax and layer normalization need the last dimension whole. Batch
// normalization needs all others whole.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

ShardingRule dtc::rowwiseRule(Operation *op) {
  ShardingRule rule = elementwiseRule(op, Linearity::None);
  if (!rule.factors.empty())
    rule.factors.back().kind = FactorKind::Replicated;
  return rule;
}

/// The results mean and rstd have size 1 in the last dimension: no factor.
ShardingRule LayerNormOp::getShardingRule() { return rowwiseRule(*this); }

ShardingRule BatchNormOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(*this, Linearity::None);
  for (Factor &factor : llvm::MutableArrayRef(rule.factors).drop_back())
    factor.kind = FactorKind::Replicated;
  return rule;
}
