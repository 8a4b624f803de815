//===- Attention.cpp - rules of attention ---------------------------------===//

#include "Rules.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dtc;

/// The keys that a query of a head sees, with their scores.
template <typename OpTy>
static std::vector<std::pair<int64_t, double>>
score(OpTy op, const AttentionSizes &s, Operands x, int64_t b, int64_t h,
      int64_t t) {
  std::vector<std::pair<int64_t, double>> scores;
  int64_t g = h / (s.heads / s.groups);
  for (int64_t k = 0; k < (op.getCausal() ? t + 1 : s.keys); ++k) {
    double sum = 0;
    for (int64_t d = 0; d < s.width; ++d)
      sum += at(x[0], {b, t, h, d}) * at(x[1], {b, k, g, d});
    sum *= op.getScale().convertToDouble();
    if (op.getMask())
      sum += at(x[3], {b, h, t, k});
    if (sum != -std::numeric_limits<double>::infinity())
      scores.emplace_back(k, sum);
  }
  return scores;
}

static Tensors evaluateAttention(AttentionOp op, Operands x) {
  AttentionSizes s = op.getSizes();
  HostTensor result = makeResult(op, 0), lse = makeResult(op, 1);
  forEachIndex({s.batch, s.heads, s.queries}, [&](ArrayRef<int64_t> i) {
    int64_t b = i[0], h = i[1], t = i[2], g = h / (s.heads / s.groups);
    auto scores = score(op, s, x, b, h, t);
    std::vector<double> row;
    for (auto [k, value] : scores)
      row.push_back(value);
    double total =
        row.empty() ? std::numeric_limits<double>::infinity() : logSumExp(row);
    at(lse, {b, h, t}) = total;
    for (auto [k, value] : scores)
      for (int64_t e = 0; e < s.valueWidth; ++e)
        at(result, {b, t, h, e}) +=
            std::exp(value - total) * at(x[2], {b, k, g, e});
  });
  return {result, lse};
}

static Tensors evaluateAttentionGrad(AttentionGradOp op, Operands x) {
  AttentionSizes s = op.getSizes();
  HostTensor dq = makeResult(op, 0), dk = makeResult(op, 1),
             dv = makeResult(op, 2);
  Operands y = x.take_back(3); // result, lse and the result's gradient
  double scale = op.getScale().convertToDouble();
  forEachIndex({s.batch, s.heads, s.queries}, [&](ArrayRef<int64_t> i) {
    int64_t b = i[0], h = i[1], t = i[2], g = h / (s.heads / s.groups);
    double delta = 0;
    for (int64_t e = 0; e < s.valueWidth; ++e)
      delta += at(y[0], {b, t, h, e}) * at(y[2], {b, t, h, e});
    for (auto [k, value] : score(op, s, x, b, h, t)) {
      double p = std::exp(value - at(y[1], {b, h, t})), dp = 0;
      for (int64_t e = 0; e < s.valueWidth; ++e) {
        dp += at(y[2], {b, t, h, e}) * at(x[2], {b, k, g, e});
        at(dv, {b, k, g, e}) += p * at(y[2], {b, t, h, e});
      }
      for (int64_t d = 0; d < s.width; ++d) {
        at(dq, {b, t, h, d}) +=
            scale * p * (dp - delta) * at(x[1], {b, k, g, d});
        at(dk, {b, k, g, d}) +=
            scale * p * (dp - delta) * at(x[0], {b, t, h, d});
      }
    }
  });
  return {dq, dk, dv};
}

void dtc::addAttentionRules(Rules &rules) {
  rules.add(evaluateAttention);
  rules.add(evaluateAttentionGrad);
}
