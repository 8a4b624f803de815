//===- Random.cpp - sharding rules of random numbers ----------------------===//
//
// Nothing but the parts that a result is told to be splits it.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Factors of a dimension are its parts, major first, and what is in one. Those
/// that no part says are of no operand: any layout is possible, and the op
/// verifier insists on parts.
ShardingRule RandomUniformOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  SmallVector<int64_t> left(shape);
  TensorFactors result(shape.size());
  rule.operands.resize(2); // seed and step
  for (auto [part, dim] : llvm::zip_equal(getNumbers(), getDims())) {
    int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(0);
    unsigned factor = rule.addFactor(size);
    result[dim].push_back(factor);
    rule.operands.push_back({{factor}});
    left[dim] /= size;
  }
  if (getOpenWays())
    rule.operands.emplace_back();
  for (auto [dim, size] : llvm::enumerate(left))
    result[dim].push_back(rule.addFactor(size));
  rule.results.push_back(result);
  return rule;
}
