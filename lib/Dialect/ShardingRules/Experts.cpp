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

//===----------------------------------------------------------------------===//
// Experts on other ranks
//===----------------------------------------------------------------------===//

/// Between rows and slots: groups are parallel, and a group is whole, because a
/// row may go to any slot of its group.
static ShardingRule getSlotRule(RankedTensorType slots, int64_t rows,
                                TensorFactors &ofRows, TensorFactors &ofSlots) {
  ShardingRule rule;
  auto whole = [&](int64_t size) {
    return rule.addFactor(size, FactorKind::Replicated);
  };
  int64_t groups = slots.getDimSize(1);
  unsigned group = rule.addFactor(groups), row = whole(rows / groups);
  ofRows = {{group, row}};
  ofSlots = {{whole(slots.getDimSize(0))}, {group}};
  if (slots.getRank() == 2)
    return rule;
  unsigned column = rule.addFactor(slots.getDimSize(3));
  ofRows.push_back({column});
  ofSlots.push_back({whole(slots.getDimSize(2))});
  ofSlots.push_back({column});
  return rule;
}

ShardingRule DispatchOp::getShardingRule() {
  TensorFactors rows, slots;
  ShardingRule rule = getSlotRule(
      getSlots().getType(), getRows().getType().getDimSize(0), rows, slots);
  rule.operands = {rows, {rows.front()}};
  rule.results = {slots};
  rule.linear = {{0}};
  return rule;
}

ShardingRule CombineOp::getShardingRule() {
  TensorFactors rows, slots;
  ShardingRule rule = getSlotRule(
      getSlots().getType(), getRows().getType().getDimSize(0), rows, slots);
  rule.operands = {slots, {rows.front()}};
  rule.results = {rows};
  rule.linear = {{0}};
  return rule;
}

ShardingRule CountRowsOp::getShardingRule() {
  TensorFactors rows, counts;
  ShardingRule rule =
      getSlotRule(getCounts().getType(), getIndices().getType().getDimSize(0),
                  rows, counts);
  rule.operands = {rows};
  rule.results = {counts};
  return rule;
}

ShardingRule ExpertMatMulOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> slots = getSlots().getType().getShape();
  unsigned expert = rule.addFactor(slots[0]), group = rule.addFactor(slots[1]);
  unsigned place = rule.addFactor(slots[2], FactorKind::Replicated);
  unsigned inner = rule.addFactor(slots[3], FactorKind::Sum);
  unsigned column = rule.addFactor(getResult().getType().getDimSize(3));
  TensorFactors weights = {{expert}, {inner}, {column}};
  if (getTransposeWeights())
    std::swap(weights[1], weights[2]);
  rule.operands = {
      {{expert}, {group}, {place}, {inner}}, weights, {{expert}, {group}}};
  rule.results = {{{expert}, {group}, {place}, {column}}};
  rule.linear = {{0}, {1}};
  return rule;
}

ShardingRule ExpertOuterOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> slots = getLhs().getType().getShape();
  unsigned expert = rule.addFactor(slots[0]);
  unsigned group = rule.addFactor(slots[1], FactorKind::Sum);
  unsigned place = rule.addFactor(slots[2], FactorKind::Replicated);
  unsigned m = rule.addFactor(slots[3]);
  unsigned n = rule.addFactor(getRhs().getType().getDimSize(3));
  rule.operands = {{{expert}, {group}, {place}, {m}},
                   {{expert}, {group}, {place}, {n}},
                   {{expert}, {group}}};
  rule.results = {{{expert}, {m}, {n}}};
  rule.linear = {{0}, {1}};
  return rule;
}
