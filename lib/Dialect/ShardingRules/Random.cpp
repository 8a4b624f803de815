//===- Random.cpp - sharding rules of random numbers ----------------------===//
//
// A result can only be split along the parts that its operands describe.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// The factors of a dimension are its parts, major first, and the index within
/// a part. No operand has the other dimensions, so any layout is possible for
/// them, but the op's verifier requires parts.
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
