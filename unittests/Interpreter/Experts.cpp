//===- Experts.cpp - rules of grouped products ----------------------------===//
//
// Loops over rows, and over slots [experts, groups, capacity, width].
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace mlir;
using namespace dtc;

/// Adds the product of a vector of k elements and a matrix to a vector of n
/// elements. The matrix is n x k if it is transposed.
static void addProduct(const double *x, const double *matrix, bool isTransposed,
                       int64_t k, int64_t n, double *y) {
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < n; ++j)
      y[j] += x[p] * matrix[isTransposed ? j * k + p : p * n + j];
}

/// Adds the outer product of two vectors to a matrix.
static void addOuter(const double *a, const double *b, int64_t m, int64_t n,
                     double *matrix) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      matrix[i * n + j] += a[i] * b[j];
}

static Tensors evaluateGroupedMatMul(GroupedMatMulOp op, Operands x) {
  HostTensor y = makeResult(op);
  int64_t k = x[0].shape[1], n = y.shape[1];
  for (int64_t row = 0; row < y.shape[0]; ++row)
    addProduct(&x[0].data[row * k], &x[1].data[int64_t(x[2].data[row]) * k * n],
               op.getTransposeWeights(), k, n, &y.data[row * n]);
  return {y};
}

static Tensors evaluateGroupedOuter(GroupedOuterOp op, Operands x) {
  HostTensor y = makeResult(op);
  int64_t m = y.shape[1], n = y.shape[2];
  for (int64_t row = 0; row < x[0].shape[0]; ++row)
    addOuter(&x[0].data[row * m], &x[1].data[row * n], m, n,
             &y.data[int64_t(x[2].data[row]) * m * n]);
  return {y};
}

/// Calls back for each row that has a slot, with both numbers.
static void forEachSlot(const HostTensor &indices, ArrayRef<int64_t> slots,
                        function_ref<void(int64_t row, int64_t slot)> body) {
  int64_t groups = slots[1], capacity = slots[2];
  int64_t perGroup = indices.size() / groups;
  std::vector<int64_t> filled(slots[0] * groups);
  for (int64_t row = 0; row < indices.size(); ++row) {
    int64_t block = int64_t(indices.data[row]) * groups + row / perGroup;
    if (filled[block] < capacity)
      body(row, block * capacity + filled[block]++);
  }
}

static Tensors evaluateDispatch(DispatchOp op, Operands x) {
  HostTensor y = makeResult(op);
  int64_t width = y.shape[3];
  forEachSlot(x[1], y.shape, [&](int64_t row, int64_t slot) {
    std::copy_n(&x[0].data[row * width], width, &y.data[slot * width]);
  });
  return {y};
}

static Tensors evaluateCombine(CombineOp op, Operands x) {
  HostTensor y = makeResult(op);
  int64_t width = y.shape[1];
  forEachSlot(x[1], x[0].shape, [&](int64_t row, int64_t slot) {
    std::copy_n(&x[0].data[slot * width], width, &y.data[row * width]);
  });
  return {y};
}

static Tensors evaluateCountRows(CountRowsOp op, Operands x) {
  HostTensor y = makeResult(op);
  auto capacity = static_cast<int64_t>(op.getCapacity());
  const int64_t slots[] = {y.shape[0], y.shape[1], capacity};
  forEachSlot(x[0], slots,
              [&](int64_t, int64_t slot) { ++y.data[slot / capacity]; });
  return {y};
}

/// Calls back for each slot that is filled, with its number and its expert.
static void
forEachFilled(const HostTensor &counts, int64_t capacity,
              function_ref<void(int64_t slot, int64_t expert)> body) {
  for (int64_t block = 0; block < counts.size(); ++block)
    for (int64_t place = 0; place < int64_t(counts.data[block]); ++place)
      body(block * capacity + place, block / counts.shape[1]);
}

static Tensors evaluateExpertMatMul(ExpertMatMulOp op, Operands x) {
  HostTensor y = makeResult(op);
  int64_t k = x[0].shape[3], n = y.shape[3];
  forEachFilled(x[2], y.shape[2], [&](int64_t slot, int64_t expert) {
    addProduct(&x[0].data[slot * k], &x[1].data[expert * k * n],
               op.getTransposeWeights(), k, n, &y.data[slot * n]);
  });
  return {y};
}

static Tensors evaluateExpertOuter(ExpertOuterOp op, Operands x) {
  HostTensor y = makeResult(op);
  int64_t m = y.shape[1], n = y.shape[2];
  forEachFilled(x[2], x[0].shape[2], [&](int64_t slot, int64_t expert) {
    addOuter(&x[0].data[slot * m], &x[1].data[slot * n], m, n,
             &y.data[expert * m * n]);
  });
  return {y};
}

void dtc::addExpertRules(Rules &rules) {
  rules.add(evaluateGroupedMatMul);
  rules.add(evaluateGroupedOuter);
  rules.add(evaluateDispatch);
  rules.add(evaluateCombine);
  rules.add(evaluateCountRows);
  rules.add(evaluateExpertMatMul);
  rules.add(evaluateExpertOuter);
}
