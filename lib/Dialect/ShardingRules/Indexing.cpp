//===- Indexing.cpp - sharding rules of lookups ---------------------------===//
//
// The looked-up dimension of the table is needed whole. A scatter sums over
// its indices.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Factors of indices, of rows (indices and the rest of the table), and of the
/// table.
static void lookupFactors(ShardingRule &rule, RankedTensorType indices,
                          RankedTensorType table, FactorKind indexKind,
                          TensorFactors &i, TensorFactors &rows,
                          TensorFactors &t) {
  for (int64_t size : indices.getShape())
    i.push_back({rule.addFactor(size, indexKind)});
  rows = i;
  t.push_back({rule.addFactor(table.getDimSize(0), FactorKind::Replicated)});
  for (int64_t size : table.getShape().drop_front()) {
    unsigned factor = rule.addFactor(size);
    rows.push_back({factor});
    t.push_back({factor});
  }
}

ShardingRule GatherOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors indices, rows, table;
  lookupFactors(rule, getIndices().getType(), getTable().getType(),
                FactorKind::Parallel, indices, rows, table);
  rule.operands = {table, indices};
  rule.results = {rows};
  rule.setLinear(Linearity::First);
  return rule;
}

ShardingRule ScatterAddOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors indices, rows, table;
  lookupFactors(rule, getIndices().getType(), getResult().getType(),
                FactorKind::Sum, indices, rows, table);
  rule.operands = {indices, rows};
  rule.results = {table};
  rule.setLinear(Linearity::Rest);
  return rule;
}
