//===- Elementwise.cpp - ops on one element of each operand ---------------===//
//
// Told by the sharding rule: one parallel factor for each dimension, in order.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Elementwise.h"
#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

bool dtc::isElementwise(Operation *op) {
  auto interface = dyn_cast<ShardingRuleInterface>(op);
  if (!interface || isa<BoundaryOp, BroadcastOp>(op) ||
      op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  ShardingRule rule = interface.getShardingRule();
  auto isInOrder = [](const TensorFactors &tensor, size_t rank) {
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (!factors.empty() && factors != DimFactors{static_cast<unsigned>(
                                             dim + rank - tensor.size())})
        return false;
    return true;
  };
  size_t rank = rule.results.front().size();
  return rule.factors.size() == rank &&
         llvm::all_of(rule.factors,
                      [](const Factor &factor) {
                        return factor.kind == FactorKind::Parallel;
                      }) &&
         isInOrder(rule.results.front(), rank) &&
         llvm::all_of(rule.operands, [&](const TensorFactors &tensor) {
           return isInOrder(tensor, rank);
         });
}
