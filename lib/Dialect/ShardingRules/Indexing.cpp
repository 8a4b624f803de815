//===- Indexing.cpp - sharding rules of lookups ---------------------------===//
//
// The looked-up dimension must be whole, unless the op knows its parts: then a
// gather is a sum over parts. A scatter is a sum over its indices. Batch
// dimensions are split in all tensors together.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// The factors of a looked-up dimension: the parts, and the index within a
/// part.
static DimFactors addIndexed(ShardingRule &rule, int64_t size, Value starts,
                             FactorKind partKind) {
  if (!starts)
    return {rule.addFactor(size, FactorKind::Replicated)};
  int64_t parts = cast<RankedTensorType>(starts.getType()).getDimSize(0);
  unsigned part = rule.addFactor(parts, partKind);
  return {part, rule.addFactor(size / parts, FactorKind::Replicated)};
}

static TensorFactors addAll(ShardingRule &rule, ArrayRef<int64_t> shape,
                            FactorKind kind = FactorKind::Parallel) {
  TensorFactors factors;
  for (int64_t size : shape)
    factors.push_back({rule.addFactor(size, kind)});
  return factors;
}

static void addStarts(ShardingRule &rule, Value starts,
                      const DimFactors &indexed) {
  if (starts)
    rule.operands.push_back({{indexed.front()}});
}

ShardingRule GatherOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> shape = getTable().getType().getShape();
  int64_t batchDims = getBatchDims();
  TensorFactors indices = addAll(rule, getIndices().getType().getShape());
  DimFactors indexed =
      addIndexed(rule, shape[batchDims], getStarts(), FactorKind::Sum);
  TensorFactors row = addAll(rule, shape.drop_front(batchDims + 1));
  TensorFactors table(ArrayRef(indices).take_front(batchDims));
  TensorFactors result = indices;
  table.push_back(indexed);
  llvm::append_range(table, row);
  llvm::append_range(result, row);
  rule.operands = {table, indices};
  addStarts(rule, getStarts(), indexed);
  rule.results = {result};
  rule.linear = {{0}};
  return rule;
}

ShardingRule ScatterAddOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  int64_t batchDims = getBatchDims();
  TensorFactors table = addAll(rule, shape.take_front(batchDims));
  TensorFactors indices = table;
  llvm::append_range(
      indices,
      addAll(rule, getIndices().getType().getShape().drop_front(batchDims),
             FactorKind::Sum));
  DimFactors indexed =
      addIndexed(rule, shape[batchDims], getStarts(), FactorKind::Parallel);
  TensorFactors row = addAll(rule, shape.drop_front(batchDims + 1));
  TensorFactors updates = indices;
  table.push_back(indexed);
  llvm::append_range(table, row);
  llvm::append_range(updates, row);
  rule.operands = {indices, updates};
  addStarts(rule, getStarts(), indexed);
  rule.results = {table};
  rule.linear = {{1}};
  return rule;
}

ShardingRule OneHotOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  TensorFactors indices = addAll(rule, shape.drop_back());
  DimFactors indexed =
      addIndexed(rule, shape.back(), getStarts(), FactorKind::Parallel);
  TensorFactors result = indices;
  result.push_back(indexed);
  rule.operands = {indices};
  addStarts(rule, getStarts(), indexed);
  rule.results = {result};
  return rule;
}
