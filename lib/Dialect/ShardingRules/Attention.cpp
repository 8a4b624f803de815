//===- Attention.cpp - sharding rules of attention ------------------------===//
//
// Samples and groups of heads are parallel. Queries are parallel, too, unless
// the attention is causal: then the keys that a query sees depend on its index.
// The gradients of keys and values are sums over queries.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

namespace {

/// The factors of the tensors of an attention.
struct AttentionFactors {
  template <typename OpTy>
  AttentionFactors(OpTy op, FactorKind queriesKind, ShardingRule &rule) {
    ArrayRef<int64_t> q = op.getQueries().getType().getShape();
    ArrayRef<int64_t> v = op.getValues().getType().getShape();
    batch = rule.addFactor(q[0]);
    queries = rule.addFactor(q[1], op.getCausal() ? FactorKind::Replicated
                                                  : queriesKind);
    groups = rule.addFactor(v[2]);
    own = rule.addFactor(q[2] / v[2], FactorKind::Replicated);
    keys = rule.addFactor(v[1], FactorKind::Replicated);
    width = rule.addFactor(q[3], FactorKind::Replicated);
    valueWidth = rule.addFactor(v[3], FactorKind::Replicated);
  }

  TensorFactors ofQueries() const {
    return {{batch}, {queries}, {groups, own}, {width}};
  }
  TensorFactors ofKeys() const { return {{batch}, {keys}, {groups}, {width}}; }
  TensorFactors ofValues() const {
    return {{batch}, {keys}, {groups}, {valueWidth}};
  }
  TensorFactors ofResult() const {
    return {{batch}, {queries}, {groups, own}, {valueWidth}};
  }
  TensorFactors ofRows() const { return {{batch}, {groups, own}, {queries}}; }
  /// Dimensions of size 1 are broadcast.
  TensorFactors ofMask(Value mask) const {
    TensorFactors scores = {{batch}, {groups, own}, {queries}, {keys}};
    for (auto [dim, size] :
         llvm::enumerate(cast<ShapedType>(mask.getType()).getShape()))
      if (size == 1)
        scores[dim].clear();
    return scores;
  }

  unsigned batch, queries, groups, own, keys, width, valueWidth;
};

} // namespace

ShardingRule AttentionOp::getShardingRule() {
  ShardingRule rule;
  AttentionFactors f(*this, FactorKind::Parallel, rule);
  rule.operands = {f.ofQueries(), f.ofKeys(), f.ofValues()};
  if (getMask())
    rule.operands.push_back(f.ofMask(getMask()));
  rule.results = {f.ofResult(), f.ofRows()};
  return rule;
}

ShardingRule AttentionGradOp::getShardingRule() {
  ShardingRule rule;
  AttentionFactors f(*this, FactorKind::Sum, rule);
  rule.operands = {f.ofQueries(), f.ofKeys(), f.ofValues()};
  if (getMask())
    rule.operands.push_back(f.ofMask(getMask()));
  rule.operands.append({f.ofResult(), f.ofRows(), f.ofResult()});
  rule.results = {f.ofQueries(), f.ofKeys(), f.ofValues()};
  return rule;
}

//===----------------------------------------------------------------------===//
// Packed
//===----------------------------------------------------------------------===//

namespace {

struct PackedFactors {
  template <typename OpTy> PackedFactors(OpTy op, ShardingRule &rule) {
    ArrayRef<int64_t> shape = op.getPacked().getType().getShape();
    unsigned batch = rule.addFactor(shape[0]);
    unsigned tokens = rule.addFactor(shape[1], FactorKind::Replicated);
    unsigned parts = rule.addFactor(3, FactorKind::Replicated);
    unsigned heads = rule.addFactor(shape[op.getByHead() ? 2 : 3]);
    unsigned width = rule.addFactor(shape[4], FactorKind::Replicated);
    packed = {{batch}, {tokens}, {parts}, {heads}, {width}};
    if (op.getByHead())
      std::swap(packed[2], packed[3]);
    result = {{batch}, {tokens}, {heads}, {width}};
    rows = {{batch}, {heads}, {tokens}};
  }

  TensorFactors packed, result, rows;
};

} // namespace

ShardingRule PackedAttentionOp::getShardingRule() {
  ShardingRule rule;
  PackedFactors f(*this, rule);
  rule.operands = {f.packed};
  rule.results = {f.result, f.rows};
  return rule;
}

ShardingRule PackedAttentionGradOp::getShardingRule() {
  ShardingRule rule;
  PackedFactors f(*this, rule);
  rule.operands = {f.packed, f.result, f.rows, f.result};
  rule.results = {f.packed};
  return rule;
}
