//===- MatMul.cpp - sharding rule of the matrix product -------------------===//
//
// Batch dimensions, rows and columns are parallel; the contraction is a sum.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

ShardingRule MatMulOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> lhs = getLhs().getType().getShape();
  ArrayRef<int64_t> result = getResult().getType().getShape();
  TensorFactors a, b, c;
  for (int64_t size : lhs.drop_back(2)) {
    unsigned batch = rule.addFactor(size);
    a.push_back({batch});
    b.push_back({batch});
    c.push_back({batch});
  }
  unsigned m = rule.addFactor(result[result.size() - 2]);
  unsigned n = rule.addFactor(result.back());
  unsigned k = rule.addFactor(lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)],
                              FactorKind::Sum);
  auto append = [](TensorFactors &tensor, unsigned row, unsigned column,
                   bool transpose) {
    tensor.push_back({transpose ? column : row});
    tensor.push_back({transpose ? row : column});
  };
  append(a, m, k, getTransposeLhs());
  append(b, k, n, getTransposeRhs());
  append(c, m, n, false);
  rule.operands = {a, b};
  rule.results = {c};
  rule.setLinear(Linearity::Each);
  return rule;
}
