//===- Convolution.cpp - sharding rules of windows over images ------------===//
//
// The batch, filters and groups are parallel, and the channels of a group are
// summed. Heights and widths must be whole, since windows overlap.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

namespace {

/// The dimensions of a convolution of images x with filters w to y.
struct ConvolutionFactors {
  ShardingRule rule;
  TensorFactors x, w, y;

  /// A factor is a sum if the result lacks the dimension.
  template <typename OpTy>
  ConvolutionFactors(OpTy op, FactorKind batch, FactorKind filterKind,
                     FactorKind channels) {
    ArrayRef<int64_t> xs = getShape(op.getImages()),
                      ws = getShape(op.getFilters()),
                      ys = getShape(op.getPositions());
    int64_t groups = xs[3] / ws[3];
    auto whole = [&](int64_t size) -> DimFactors {
      return {rule.addFactor(size, FactorKind::Replicated)};
    };
    unsigned n = rule.addFactor(xs[0], batch);
    DimFactors perGroup;
    if (groups > 1)
      perGroup.push_back(rule.addFactor(groups));
    auto grouped = [&](unsigned factor) {
      DimFactors factors = perGroup;
      factors.push_back(factor);
      return factors;
    };
    unsigned f = rule.addFactor(ws[0] / groups, filterKind);
    unsigned c = rule.addFactor(ws[3], channels);
    x = {{n}, whole(xs[1]), whole(xs[2]), grouped(c)};
    w = {grouped(f), whole(ws[1]), whole(ws[2]), {c}};
    y = {{n}, whole(ys[1]), whole(ys[2]), grouped(f)};
  }

  ShardingRule get(ArrayRef<TensorFactors> operands,
                   const TensorFactors &result) {
    rule.operands.assign(operands.begin(), operands.end());
    rule.results = {result};
    rule.setLinear(Linearity::Each);
    return rule;
  }
};

} // namespace

ShardingRule Conv2DOp::getShardingRule() {
  ConvolutionFactors factors(*this, FactorKind::Parallel, FactorKind::Parallel,
                             FactorKind::Sum);
  return factors.get({factors.x, factors.w}, factors.y);
}

ShardingRule Conv2DInputGradOp::getShardingRule() {
  ConvolutionFactors factors(*this, FactorKind::Parallel, FactorKind::Sum,
                             FactorKind::Parallel);
  return factors.get({factors.y, factors.w}, factors.x);
}

ShardingRule Conv2DFilterGradOp::getShardingRule() {
  ConvolutionFactors factors(*this, FactorKind::Sum, FactorKind::Parallel,
                             FactorKind::Parallel);
  return factors.get({factors.x, factors.y}, factors.w);
}

/// Batch and channels are parallel.
template <typename OpTy>
static ShardingRule poolingRule(OpTy op, ArrayRef<unsigned> linear) {
  ShardingRule rule;
  ArrayRef<int64_t> images = getShape(op.getImages());
  unsigned n = rule.addFactor(images[0]);
  unsigned c = rule.addFactor(images[3]);
  auto addWhole = [&](ArrayRef<int64_t> shape) -> TensorFactors {
    return {{n},
            {rule.addFactor(shape[1], FactorKind::Replicated)},
            {rule.addFactor(shape[2], FactorKind::Replicated)},
            {c}};
  };
  TensorFactors x = addWhole(images), y = addWhole(getShape(op.getPositions()));
  auto factorsOf = [&](Value value) {
    return getShape(value) == images ? x : y;
  };
  for (Value operand : op->getOperands())
    rule.operands.push_back(factorsOf(operand));
  rule.results = {factorsOf(op->getResult(0))};
  for (unsigned operand : linear)
    rule.linear.push_back({operand});
  return rule;
}

ShardingRule MaxPool2DOp::getShardingRule() { return poolingRule(*this, {}); }
ShardingRule MaxPool2DGradOp::getShardingRule() {
  return poolingRule(*this, {1});
}
ShardingRule SumPool2DOp::getShardingRule() { return poolingRule(*this, {0}); }
ShardingRule SumPool2DGradOp::getShardingRule() {
  return poolingRule(*this, {0});
}
