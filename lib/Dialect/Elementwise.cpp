//===- Elementwise.cpp - elementwise ops ----------------------------------===//
//
// An op is elementwise if its sharding rule has one parallel factor for each
// dimension, in order.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Elementwise.h"
#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

static bool compare(Comparison predicate, double a, double b) {
  switch (predicate) {
  case Comparison::eq:
    return a == b;
  case Comparison::ne:
    return a != b;
  case Comparison::lt:
    return a < b;
  case Comparison::le:
    return a <= b;
  case Comparison::gt:
    return a > b;
  case Comparison::ge:
    return a >= b;
  }
  llvm_unreachable("all predicates are listed");
}

static double cast(Type to, double x) {
  if (isa<FloatType>(to))
    return x;
  return to.isInteger(1) ? double(x != 0) : std::trunc(x);
}

std::optional<double> dtc::evaluateElement(Operation *op, ArrayRef<double> x) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](AddOp) { return x[0] + x[1]; })
      .Case([&](SubOp) { return x[0] - x[1]; })
      .Case([&](MulOp) { return x[0] * x[1]; })
      .Case([&](DivOp) { return x[0] / x[1]; })
      .Case([&](PowOp) { return std::pow(x[0], x[1]); })
      .Case([&](MaximumOp) { return std::max(x[0], x[1]); })
      .Case([&](MinimumOp) { return std::min(x[0], x[1]); })
      .Case([&](NegOp) { return -x[0]; })
      .Case([&](AbsOp) { return std::abs(x[0]); })
      .Case([&](ExpOp) { return std::exp(x[0]); })
      .Case([&](SqrtOp) { return std::sqrt(x[0]); })
      .Case([&](ReciprocalOp) { return 1 / x[0]; })
      .Case([&](TanhOp) { return std::tanh(x[0]); })
      .Case([&](ErfOp) { return std::erf(x[0]); })
      .Case([&](SigmoidOp) { return 1 / (1 + std::exp(-x[0])); })
      .Case([&](ReluOp) { return std::max(x[0], 0.0); })
      .Case([&](CastOp own) {
        return cast(own.getY().getType().getElementType(), x[0]);
      })
      .Case([&](CompareOp own) {
        return double(compare(own.getPredicate(), x[0], x[1]));
      })
      .Case([&](LogicalAndOp) { return x[0] * x[1]; })
      .Case([&](LogicalOrOp) { return std::max(x[0], x[1]); })
      .Case([&](LogicalNotOp) { return 1 - x[0]; })
      .Case([&](SelectOp) { return x[0] != 0 ? x[1] : x[2]; })
      .Default(std::nullopt);
}

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
