//===- Reduction.cpp - rules of reductions, norms and products ------------===//

#include "Rules.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

static Tensors evaluateReduceSum(ReduceSumOp op, Operands x) {
  HostTensor y = makeResult(op), lost = y; // by rounding (Kahan, 1965)
  forEachIndex(x[0].shape, [&](ArrayRef<int64_t> index) {
    double &sum = at(y, index), &error = at(lost, index);
    double term = at(x[0], index) - error, next = sum + term;
    error = (next - sum) - term;
    sum = next;
  });
  return {y};
}

static Tensors evaluateReduceMax(ReduceMaxOp op, Operands x) {
  HostTensor y = makeResult(op);
  llvm::fill(y.data, -INFINITY);
  forEachIndex(x[0].shape, [&](ArrayRef<int64_t> index) {
    double &max = at(y, index);
    max = std::max(max, at(x[0], index));
  });
  return {y};
}

static Tensors evaluateLogSoftmax(LogSoftmaxOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachRow(x[0], [&](int64_t row, Elements elements) {
    double total = logSumExp(elements);
    for (auto [i, element] : llvm::enumerate(elements))
      y.data[row * elements.size() + i] = element - total;
  });
  return {y};
}

static Tensors evaluateSoftmax(SoftmaxOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachRow(x[0], [&](int64_t row, Elements elements) {
    double total = logSumExp(elements);
    for (auto [i, element] : llvm::enumerate(elements))
      y.data[row * elements.size() + i] = std::exp(element - total);
  });
  return {y};
}

static Tensors evaluateLayerNorm(LayerNormOp op, Operands x) {
  Tensors y = {makeResult(op, 0), makeResult(op, 1), makeResult(op, 2)};
  forEachRow(x[0], [&](int64_t row, Elements elements) {
    double n = elements.size(), mean = 0, variance = 0;
    for (double element : elements)
      mean += element / n;
    for (double element : elements)
      variance += (element - mean) * (element - mean) / n;
    double rstd = 1 / std::sqrt(variance + op.getEpsilon().convertToDouble());
    for (auto [i, element] : llvm::enumerate(elements))
      y[0].data[row * elements.size() + i] =
          (element - mean) * rstd * x[1].data[i] + x[2].data[i];
    y[1].data[row] = mean;
    y[2].data[row] = rstd;
  });
  return y;
}

static Tensors evaluateMatMul(MatMulOp op, Operands x) {
  HostTensor y = makeResult(op);
  const HostTensor &a = x[0], &b = x[1];
  int64_t rank = a.shape.size();
  int64_t depth = a.shape[rank - (op.getTransposeLhs() ? 2 : 1)];
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    Index i(index), j(index);
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      i[rank - 2] = index[rank - 2], i[rank - 1] = k;
      j[rank - 2] = k, j[rank - 1] = index[rank - 1];
      if (op.getTransposeLhs())
        std::swap(i[rank - 2], i[rank - 1]);
      if (op.getTransposeRhs())
        std::swap(j[rank - 2], j[rank - 1]);
      sum += at(a, i) * at(b, j);
    }
    at(y, index) = sum;
  });
  return {y};
}

void dtc::addReductionRules(Rules &rules) {
  rules.add(evaluateReduceSum);
  rules.add(evaluateReduceMax);
  rules.add(evaluateSoftmax);
  rules.add(evaluateLogSoftmax);
  rules.add(evaluateLayerNorm);
  rules.add(evaluateMatMul);
}
