//===- MatMul.cpp - sharding rules of matmuls -----------------------------===//
//
// Batch dimensions, rows and columns are parallel; the contraction is a sum.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// The contraction is a factor of kind `contraction`.
template <typename Op>
static ShardingRule getProductRule(Op op, FactorKind contraction) {
  ShardingRule rule;
  ArrayRef<int64_t> lhs = op.getLhs().getType().getShape();
  ArrayRef<int64_t> result = op.getResult().getType().getShape();
  TensorFactors a, b, c;
  for (int64_t size : lhs.drop_back(2)) {
    unsigned batch = rule.addFactor(size);
    a.push_back({batch});
    b.push_back({batch});
    c.push_back({batch});
  }
  unsigned m = rule.addFactor(result[result.size() - 2]);
  unsigned n = rule.addFactor(result.back());
  unsigned k = rule.addFactor(lhs[lhs.size() - (op.getTransposeLhs() ? 2 : 1)],
                              contraction);
  auto append = [](TensorFactors &tensor, unsigned row, unsigned column,
                   bool transpose) {
    tensor.push_back({transpose ? column : row});
    tensor.push_back({transpose ? row : column});
  };
  append(a, m, k, op.getTransposeLhs());
  append(b, k, n, op.getTransposeRhs());
  append(c, m, n, false);
  rule.operands = {a, b};
  rule.results = {c};
  return rule;
}

ShardingRule MatMulOp::getShardingRule() {
  ShardingRule rule = getProductRule(*this, FactorKind::Sum);
  rule.setLinear(Linearity::Each);
  return rule;
}

/// The contraction must be whole, because the epilogue is not linear in partial
/// sums.
ShardingRule MatMulEpilogueOp::getShardingRule() {
  ShardingRule rule = getProductRule(*this, FactorKind::Replicated);
  TensorFactors result = rule.results.front();
  rule.operands.push_back(hasMatrix() ? result : TensorFactors{result.back()});
  if (getBias())
    rule.operands.push_back({result.back()});
  if (getSum())
    rule.results.push_back(result);
  return rule;
}

ShardingRule MatMulBiasGradOp::getShardingRule() {
  ShardingRule rule = getProductRule(*this, FactorKind::Sum);
  rule.results.push_back({rule.results.front()[getOfLhs() ? 0 : 1]});
  return rule;
}
