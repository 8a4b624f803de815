//===- Reduction.cpp - sharding rules of reductions -----------------------===//
//
// If a reduced dimension is split, the result is partial.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

static ShardingRule reductionRule(Operation *op, ArrayRef<int64_t> axes,
                                  FactorKind kind, Linearity linearity) {
  ShardingRule rule;
  auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
  TensorFactors x(shape.size()), y(shape.size());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(axes, static_cast<int64_t>(dim));
    x[dim].push_back(
        rule.addFactor(size, reduced ? kind : FactorKind::Parallel));
    if (!reduced)
      y[dim] = x[dim];
  }
  rule.operands.push_back(x);
  rule.results.push_back(y);
  rule.setLinear(linearity);
  return rule;
}

ShardingRule ReduceSumOp::getShardingRule() {
  return reductionRule(*this, getAxes(), FactorKind::Sum, Linearity::Jointly);
}

ShardingRule ReduceMaxOp::getShardingRule() {
  return reductionRule(*this, getAxes(), FactorKind::Max, Linearity::None);
}
