//===- Elementwise.cpp - sharding rules of elementwise ops ----------------===//
//
// One factor for each dimension of the result, by NumPy broadcasting.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Factors of a tensor whose dimensions align at the end with a shape that has
/// factors 0 .. rank-1. Broadcast dimensions of size 1 have none.
static TensorFactors alignAtEnd(ArrayRef<int64_t> shape,
                                ArrayRef<int64_t> full) {
  TensorFactors factors(shape.size());
  unsigned offset = full.size() - shape.size();
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size == full[offset + dim])
      factors[dim].push_back(offset + dim);
  return factors;
}

ShardingRule dtc::elementwiseRule(Operation *op, Linearity linearity) {
  ShardingRule rule;
  ArrayRef<int64_t> full =
      cast<ShapedType>(op->getResult(0).getType()).getShape();
  for (int64_t size : full)
    rule.addFactor(size);
  for (Type type : op->getOperandTypes())
    rule.operands.push_back(
        alignAtEnd(cast<ShapedType>(type).getShape(), full));
  for (Type type : op->getResultTypes())
    rule.results.push_back(alignAtEnd(cast<ShapedType>(type).getShape(), full));
  rule.setLinear(linearity);
  return rule;
}

ShardingRule CompareOp::getShardingRule() {
  return elementwiseRule(*this, Linearity::None);
}

ShardingRule CastOp::getShardingRule() {
  // Casts between floating-point types commute with sums.
  bool isLinear = isa<FloatType>(getX().getType().getElementType()) &&
                  isa<FloatType>(getY().getType().getElementType());
  return elementwiseRule(*this,
                         isLinear ? Linearity::Jointly : Linearity::None);
}

ShardingRule BroadcastOp::getShardingRule() {
  return elementwiseRule(*this, Linearity::Jointly);
}

ShardingRule BoundaryOp::getShardingRule() {
  return elementwiseRule(*this, Linearity::Jointly);
}

ShardingRule SumOverStagesOp::getShardingRule() {
  return elementwiseRule(*this, Linearity::Jointly);
}
