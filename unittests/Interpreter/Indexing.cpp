//===- Indexing.cpp - rules of lookups ------------------------------------===//
//
// With starts, a dimension of the table has equal parts. Each part begins at
// its index in starts.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace mlir;
using namespace dtc;

/// Calls back for every place of a dimension of `size` that has an index.
static void forEachPlace(double index, const HostTensor *starts, int64_t size,
                         function_ref<void(int64_t place)> body) {
  if (!starts)
    return body(int64_t(index));
  int64_t part = size / starts->size();
  for (int64_t p = 0; p < starts->size(); ++p) {
    int64_t own = int64_t(index) - int64_t(starts->data[p]);
    if (own >= 0 && own < part)
      body(p * part + own);
  }
}

static const HostTensor *getStarts(Operands x, unsigned number) {
  return x.size() > number ? &x[number] : nullptr;
}

/// Calls back for each row that indices name, with its start in a table of this
/// shape, its start among the named rows, and its size.
static void forEachNamedRow(
    ArrayRef<int64_t> table, int64_t batchDims, const HostTensor &indices,
    const HostTensor *starts,
    function_ref<void(int64_t entry, int64_t named, int64_t size)> body) {
  auto getCount = [](ArrayRef<int64_t> shape) {
    return ShapedType::getNumElements(shape);
  };
  int64_t rows = table[batchDims];
  int64_t size = getCount(table.drop_front(batchDims + 1));
  int64_t perBatch = indices.size() / getCount(table.take_front(batchDims));
  for (int64_t i = 0; i < indices.size(); ++i)
    forEachPlace(indices.data[i], starts, rows, [&](int64_t row) {
      body((i / perBatch * rows + row) * size, i * size, size);
    });
}

static Tensors evaluateGather(GatherOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachNamedRow(x[0].shape, op.getBatchDims(), x[1], getStarts(x, 2),
                  [&](int64_t entry, int64_t named, int64_t size) {
                    for (int64_t c = 0; c < size; ++c)
                      y.data[named + c] += x[0].data[entry + c];
                  });
  return {y};
}

static Tensors evaluateScatterAdd(ScatterAddOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachNamedRow(y.shape, op.getBatchDims(), x[0], getStarts(x, 2),
                  [&](int64_t entry, int64_t named, int64_t size) {
                    for (int64_t c = 0; c < size; ++c)
                      y.data[entry + c] += x[1].data[named + c];
                  });
  return {y};
}

static Tensors evaluateOneHot(OneHotOp op, Operands x) {
  HostTensor y = makeResult(op);
  int64_t width = y.shape.back();
  for (int64_t i = 0; i < x[0].size(); ++i)
    forEachPlace(x[0].data[i], getStarts(x, 1), width, [&](int64_t column) {
      if (column >= 0 && column < width)
        y.data[i * width + column] = 1;
    });
  return {y};
}

void dtc::addIndexingRules(Rules &rules) {
  rules.add(evaluateGather);
  rules.add(evaluateScatterAdd);
  rules.add(evaluateOneHot);
}
