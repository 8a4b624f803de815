//===- Experts.cpp - sharding rules of grouped products -------------------===//
//
// Rows, and columns of results, are parallel; what a product contracts is a
// sum. The stack must be whole, since an index may name any of its matrices.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

ShardingRule GroupedMatMulOp::getShardingRule() {
  ShardingRule rule;
  RankedTensorType rows = getRows().getType();
  unsigned row = rule.addFactor(rows.getDimSize(0));
  unsigned inner = rule.addFactor(rows.getDimSize(1), FactorKind::Sum);
  unsigned column = rule.addFactor(getResult().getType().getDimSize(1));
  unsigned matrix = rule.addFactor(getWeights().getType().getDimSize(0),
                                   FactorKind::Replicated);
  TensorFactors weights = {{matrix}, {inner}, {column}};
  if (getTransposeWeights())
    std::swap(weights[1], weights[2]);
  rule.operands = {{{row}, {inner}}, weights, {{row}}};
  rule.results = {{{row}, {column}}};
  rule.linear = {{0}, {1}};
  return rule;
}

ShardingRule GroupedOuterOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> result = getResult().getType().getShape();
  unsigned row =
      rule.addFactor(getLhs().getType().getDimSize(0), FactorKind::Sum);
  unsigned matrix = rule.addFactor(result[0], FactorKind::Replicated);
  unsigned m = rule.addFactor(result[1]), n = rule.addFactor(result[2]);
  rule.operands = {{{row}, {m}}, {{row}, {n}}, {{row}}};
  rule.results = {{{matrix}, {m}, {n}}};
  rule.linear = {{0}, {1}};
  return rule;
}
