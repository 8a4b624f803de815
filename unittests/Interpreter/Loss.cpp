//===- Loss.cpp - rules of losses and sums of squares ---------------------===//

#include "Rules.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

static bool isIgnored(std::optional<uint64_t> index, double label) {
  return index && double(int64_t(*index)) == label;
}

static Tensors evaluateCrossEntropy(CrossEntropyOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachRow(x[0], [&](int64_t row, Elements logits) {
    double label = x[1].data[row];
    Elements counted =
        logits.take_front(op.getClasses().value_or(logits.size()));
    if (!isIgnored(op.getIgnoreIndex(), label))
      y.data[0] += logSumExp(counted) - logits[size_t(label)];
  });
  return {y};
}

static Tensors evaluateCrossEntropyGrad(CrossEntropyGradOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachRow(x[0], [&](int64_t row, Elements logits) {
    double label = x[1].data[row];
    if (isIgnored(op.getIgnoreIndex(), label))
      return;
    Elements counted =
        logits.take_front(op.getClasses().value_or(logits.size()));
    double total = logSumExp(counted), scale = x[2].data[0];
    for (size_t c = 0; c < counted.size(); ++c)
      y.data[row * logits.size() + c] =
          scale * (std::exp(logits[c] - total) - (double(c) == label));
  });
  return {y};
}

static Tensors evaluateCountLabels(CountLabelsOp op, Operands x) {
  HostTensor y = makeResult(op);
  for (double label : x[0].data)
    y.data[0] += !isIgnored(op.getIgnoreIndex(), label);
  return {y};
}

static Tensors evaluateSquaredError(SquaredErrorOp op, Operands x) {
  HostTensor y = makeResult(op);
  for (auto [p, t] : llvm::zip(x[0].data, x[1].data))
    y.data[0] += (p - t) * (p - t);
  return {y};
}

static Tensors evaluateSumSquares(SumSquaresOp op, Operands x) {
  HostTensor y = makeResult(op);
  // Avoids equal rounding of thousands of equal terms.
  long double sum = 0;
  for (double element : x[0].data)
    sum += element * element;
  y.data[0] = sum;
  return {y};
}

void dtc::addLossRules(Rules &rules) {
  rules.add(evaluateCrossEntropy);
  rules.add(evaluateCrossEntropyGrad);
  rules.add(evaluateCountLabels);
  rules.add(evaluateSquaredError);
  rules.add(evaluateSumSquares);
}
