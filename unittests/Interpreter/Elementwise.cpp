//===- Elementwise.cpp - rules of elementwise ops -------------------------===//

#include "Rules.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace dtc;

static bool isInteger(Operation *op) {
  return isa<IntegerType>(getElementTypeOrSelf(op->getResult(0)));
}

static double divide(DivOp op, Elements x) {
  return isInteger(op) ? std::trunc(x[0] / x[1]) : x[0] / x[1];
}

static double compare(CompareOp op, Elements x) {
  switch (op.getPredicate()) {
  case Comparison::eq:
    return x[0] == x[1];
  case Comparison::ne:
    return x[0] != x[1];
  case Comparison::lt:
    return x[0] < x[1];
  case Comparison::le:
    return x[0] <= x[1];
  case Comparison::gt:
    return x[0] > x[1];
  case Comparison::ge:
    return x[0] >= x[1];
  }
  llvm_unreachable("unknown comparison");
}

static double convert(CastOp op, Elements x) {
  Type to = getElementTypeOrSelf(op.getY());
  if (to.isInteger(1))
    return x[0] != 0;
  if (isa<IntegerType>(to))
    return std::trunc(x[0]);
  return x[0];
}

void dtc::addElementwiseRules(Rules &rules) {
  using E = Elements;
  rules.addElementwise<NegOp>([](E x) { return -x[0]; });
  rules.addElementwise<AbsOp>([](E x) { return std::fabs(x[0]); });
  rules.addElementwise<ExpOp>([](E x) { return std::exp(x[0]); });
  rules.addElementwise<LogOp>([](E x) { return std::log(x[0]); });
  rules.addElementwise<SqrtOp>([](E x) { return std::sqrt(x[0]); });
  rules.addElementwise<ReciprocalOp>([](E x) { return 1 / x[0]; });
  rules.addElementwise<TanhOp>([](E x) { return std::tanh(x[0]); });
  rules.addElementwise<ErfOp>([](E x) { return std::erf(x[0]); });
  rules.addElementwise<SigmoidOp>(
      [](E x) { return 1 / (1 + std::exp(-x[0])); });
  rules.addElementwise<SinOp>([](E x) { return std::sin(x[0]); });
  rules.addElementwise<CosOp>([](E x) { return std::cos(x[0]); });
  rules.addElementwise<AtanOp>([](E x) { return std::atan(x[0]); });
  rules.addElementwise<FloorOp>([](E x) { return std::floor(x[0]); });
  rules.addElementwise<ReluOp>([](E x) { return x[0] < 0 ? 0 : x[0]; });
  rules.addElementwise<AddOp>([](E x) { return x[0] + x[1]; });
  rules.addElementwise<AccumulateOp>([](E x) { return x[0] + x[1]; });
  rules.addElementwise<SubOp>([](E x) { return x[0] - x[1]; });
  rules.addElementwise<MulOp>([](E x) { return x[0] * x[1]; });
  rules.addElementwise<DivOp>(divide);
  rules.addElementwise<PowOp>([](E x) { return std::pow(x[0], x[1]); });
  rules.addElementwise<MaximumOp>([](E x) { return std::max(x[0], x[1]); });
  rules.addElementwise<MinimumOp>([](E x) { return std::min(x[0], x[1]); });
  rules.addElementwise<CompareOp>(compare);
  rules.addElementwise<LogicalAndOp>(
      [](E x) -> double { return x[0] && x[1]; });
  rules.addElementwise<LogicalOrOp>([](E x) -> double { return x[0] || x[1]; });
  rules.addElementwise<LogicalNotOp>([](E x) -> double { return !x[0]; });
  rules.addElementwise<SelectOp>([](E x) { return x[0] ? x[1] : x[2]; });
  rules.addElementwise<CastOp>(convert);
  rules.addElementwise<BroadcastOp>([](E x) { return x[0]; });
  rules.addElementwise<BoundaryOp>([](E x) { return x[0]; });
  rules.addElementwise<SumOverStagesOp>(
      [](E x) { return std::accumulate(x.begin(), x.end(), 0.0); });
}
