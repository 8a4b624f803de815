//===- RecurrentActivation.cpp - activations of recurrent layers ----------===//
//
// See RecurrentActivation.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/RecurrentActivation.h"
#include "Ops/Activation.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

/// Takes the next number from the front of a list; `otherwise` if it is empty.
static double takeNumber(ArrayRef<float> &numbers, double otherwise) {
  if (numbers.empty())
    return otherwise;
  double number = numbers.front();
  numbers = numbers.drop_front();
  return number;
}

static Value buildAffine(NodeBuilder &node, Value x, double alpha,
                         double beta) {
  return node.add(node.mul(x, node.scalar(alpha, x)), node.scalar(beta, x));
}

static Value buildScaledTanh(NodeBuilder &node, Value x, double alpha,
                             double beta) {
  Value inner = node.mul(x, node.scalar(beta, x));
  return node.mul(node.elementwise<TanhOp>(inner), node.scalar(alpha, x));
}

Activation findActivation(StringRef name, ArrayRef<float> &alphas,
                          ArrayRef<float> &betas) {
  auto withAlpha = [&](auto build, double otherwise) -> Activation {
    double alpha = takeNumber(alphas, otherwise);
    return [=](NodeBuilder &node, Value x) { return build(node, x, alpha); };
  };
  auto withBoth = [&](auto build, double first, double second) -> Activation {
    double alpha = takeNumber(alphas, first), beta = takeNumber(betas, second);
    return
        [=](NodeBuilder &node, Value x) { return build(node, x, alpha, beta); };
  };
  std::string lower = name.lower();
  if (lower == "relu")
    return
        [](NodeBuilder &node, Value x) { return node.elementwise<ReluOp>(x); };
  if (lower == "tanh")
    return
        [](NodeBuilder &node, Value x) { return node.elementwise<TanhOp>(x); };
  if (lower == "sigmoid")
    return [](NodeBuilder &node, Value x) {
      return node.elementwise<SigmoidOp>(x);
    };
  if (lower == "softplus")
    return buildSoftplus;
  if (lower == "softsign")
    return buildSoftsign;
  if (lower == "leakyrelu")
    return withAlpha(buildLeakyRelu, 0.01f);
  if (lower == "elu")
    return withAlpha(buildElu, 1);
  if (lower == "thresholdedrelu")
    return withAlpha(buildThresholdedRelu, 1);
  if (lower == "hardsigmoid")
    return withBoth(buildHardSigmoid, 0.2f, 0.5);
  if (lower == "affine")
    return withBoth(buildAffine, 1, 0);
  if (lower == "scaledtanh")
    return withBoth(buildScaledTanh, 1, 1);
  return nullptr;
}

} // namespace dtc::frontend
