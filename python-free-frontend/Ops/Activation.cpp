//===- Activation.cpp - import of activation functions --------------------===//
//
// Builds activation functions from other ops.
//
//===----------------------------------------------------------------------===//

#include "Ops/Activation.h"
#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// The import rule for a function of one float operand.
template <Value (*f)(NodeBuilder &, Value)>
Error importActivation(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  node.setResult(0, f(node, node.operand(0)));
  return Error::success();
}

/// `positive` where x > 0, else `other`.
Value wherePositive(NodeBuilder &node, Value x, Value positive, Value other) {
  Value condition = node.compare(Comparison::gt, x, node.scalar(0, x));
  return node.select(condition, positive, other);
}

/// exp(x / scale) - 1 where x <= 0. The exponential of the other elements must
/// not overflow: select multiplies its derivative by 0, which would give NaN.
Value expMinusOne(NodeBuilder &node, Value x, double scale) {
  Value bounded = wherePositive(node, x, node.scalar(0, x), x);
  if (scale != 1)
    bounded = node.mul(bounded, node.scalar(1 / scale, x));
  return node.sub(node.elementwise<ExpOp>(bounded), node.scalar(1, x));
}

Value leakyRelu(NodeBuilder &node, Value x) {
  return buildLeakyRelu(node, x, node.call.getFloat("alpha", 0.01f));
}

Value elu(NodeBuilder &node, Value x) {
  return buildElu(node, x, node.call.getFloat("alpha", 1));
}

Value celu(NodeBuilder &node, Value x) {
  double alpha = node.call.getFloat("alpha", 1);
  return wherePositive(
      node, x, x, node.mul(expMinusOne(node, x, alpha), node.scalar(alpha, x)));
}

Value selu(NodeBuilder &node, Value x) {
  double alpha = node.call.getFloat("alpha", 1.67326319217681884765625);
  double gamma = node.call.getFloat("gamma", 1.05070102214813232421875);
  Value negative = node.mul(expMinusOne(node, x, 1), node.scalar(alpha, x));
  return node.mul(wherePositive(node, x, x, negative), node.scalar(gamma, x));
}

Value hardSigmoid(NodeBuilder &node, Value x) {
  return buildHardSigmoid(node, x, node.call.getFloat("alpha", 0.2f),
                          node.call.getFloat("beta", 0.5));
}

/// x (x / 6 + 1/2) for x from -3 to 3, 0 below and x above.
Value hardSwish(NodeBuilder &node, Value x) {
  Value bound = node.scalar(3, x);
  Value curve = node.mul(
      x, node.add(node.mul(x, node.scalar(1.0 / 6, x)), node.scalar(0.5, x)));
  Value isAbove = node.compare(Comparison::ge, x, bound);
  Value isBelow =
      node.compare(Comparison::le, x, node.elementwise<NegOp>(bound));
  Value upper = node.select(isAbove, x, curve);
  return node.select(isBelow, node.scalar(0, x), upper);
}

Value swish(NodeBuilder &node, Value x) {
  double alpha = node.call.getFloat("alpha", 1);
  Value inner = alpha == 1 ? x : node.mul(x, node.scalar(alpha, x));
  return node.mul(x, node.elementwise<SigmoidOp>(inner));
}

Value thresholdedRelu(NodeBuilder &node, Value x) {
  return buildThresholdedRelu(node, x, node.call.getFloat("alpha", 1));
}

/// Moves x by the bias towards 0. The result is 0 within the threshold of 0.
Value shrink(NodeBuilder &node, Value x) {
  double threshold = node.call.getFloat("lambd", 0.5);
  Value bias = node.scalar(node.call.getFloat("bias", 0), x);
  Value isAbove = node.compare(Comparison::gt, x, node.scalar(threshold, x));
  Value isBelow = node.compare(Comparison::lt, x, node.scalar(-threshold, x));
  Value inner = node.select(isBelow, node.add(x, bias), node.scalar(0, x));
  return node.select(isAbove, node.sub(x, bias), inner);
}

Value mish(NodeBuilder &node, Value x) {
  return node.mul(x, node.elementwise<TanhOp>(buildSoftplus(node, x)));
}

Error importGelu(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  StringRef kind = node.call.getString("approximate", "none");
  Value x = node.operand(0), inner;
  if (kind == "none") {
    inner =
        node.elementwise<ErfOp>(node.mul(x, node.scalar(std::sqrt(0.5), x)));
  } else if (kind == "tanh") {
    Value cube = node.mul(node.mul(x, x), x);
    Value sum = node.add(x, node.mul(cube, node.scalar(0.044715, x)));
    inner = node.elementwise<TanhOp>(
        node.mul(sum, node.scalar(std::sqrt(2 / M_PI), x)));
  } else {
    return problem("approximate is '" + kind + "', expected 'none' or 'tanh'");
  }
  Value half = node.mul(x, node.scalar(0.5, x));
  node.setResult(0, node.mul(half, node.add(inner, node.scalar(1, x))));
  return Error::success();
}

Error importPRelu(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  Expected<Shape> shape = broadcastOperands(node.call);
  if (!shape)
    return shape.takeError();
  if (ArrayRef<int64_t>(*shape) != node.call.shape(0))
    return problem("slope " + toString(node.call.shape(1)) +
                   " does not broadcast to " + toString(node.call.shape(0)));
  Value x = node.operand(0);
  node.setResult(0, wherePositive(node, x, x, node.mul(x, node.operand(1))));
  return Error::success();
}
} // namespace

Value buildLeakyRelu(NodeBuilder &node, Value x, double alpha) {
  return wherePositive(node, x, x, node.mul(x, node.scalar(alpha, x)));
}

Value buildElu(NodeBuilder &node, Value x, double alpha) {
  return wherePositive(
      node, x, x, node.mul(expMinusOne(node, x, 1), node.scalar(alpha, x)));
}

Value buildHardSigmoid(NodeBuilder &node, Value x, double alpha, double beta) {
  Value zero = node.scalar(0, x), one = node.scalar(1, x);
  Value line =
      node.add(node.mul(x, node.scalar(alpha, x)), node.scalar(beta, x));
  Value below = node.select(node.compare(Comparison::ge, line, one), one, line);
  return node.select(node.compare(Comparison::le, line, zero), zero, below);
}

Value buildThresholdedRelu(NodeBuilder &node, Value x, double alpha) {
  return node.select(node.compare(Comparison::gt, x, node.scalar(alpha, x)), x,
                     node.scalar(0, x));
}

/// max(x, 0) + log(1 + exp(-|x|)), which never overflows. At 0, the maximum
/// passes half of the gradient, and the logarithm none.
Value buildSoftplus(NodeBuilder &node, Value x) {
  Value decay = node.elementwise<ExpOp>(
      node.elementwise<NegOp>(node.elementwise<AbsOp>(x)));
  Value positive = node.elementwise<MaximumOp>({x, node.scalar(0, x)});
  return node.add(positive,
                  node.elementwise<LogOp>(node.add(decay, node.scalar(1, x))));
}

Value buildSoftsign(NodeBuilder &node, Value x) {
  return node.elementwise<DivOp>(
      {x, node.add(node.elementwise<AbsOp>(x), node.scalar(1, x))});
}

void addActivationOperators(OperatorTable &table) {
  table.addElementwise({
      {"LeakyRelu", 6, 1, 1, "alpha", importActivation<leakyRelu>},
      {"PRelu", 7, 2, 2, "", importPRelu},
      {"Elu", 6, 1, 1, "alpha", importActivation<elu>},
      {"Celu", 12, 1, 1, "alpha", importActivation<celu>},
      {"Selu", 6, 1, 1, "alpha gamma", importActivation<selu>},
      {"HardSigmoid", 6, 1, 1, "alpha beta", importActivation<hardSigmoid>},
      {"HardSwish", 14, 1, 1, "", importActivation<hardSwish>},
      {"Softplus", 1, 1, 1, "", importActivation<buildSoftplus>},
      {"Softsign", 1, 1, 1, "", importActivation<buildSoftsign>},
      {"Mish", 18, 1, 1, "", importActivation<mish>},
      {"Swish", 24, 1, 1, "alpha", importActivation<swish>},
      {"Shrink", 9, 1, 1, "bias lambd", importActivation<shrink>},
      {"ThresholdedRelu", 10, 1, 1, "alpha", importActivation<thresholdedRelu>},
      {"Gelu", 20, 1, 1, "approximate", importGelu},
  });
}

} // namespace dtc::frontend
