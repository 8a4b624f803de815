//===- SampleRows.cpp - lookups in each sample's rows ---------------------===//
//
// See SampleRows.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/SampleRows.h"
#include "Ops/KnownValues.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

/// The step of known indices that are 0, step, 2 * step, ... along dimension 0
/// of `shape` and equal along all others. 0 for other indices.
static int64_t findStep(const HostTensor &known, ArrayRef<int64_t> shape) {
  Shape own(shape.size() - known.rank(), 1);
  own.append(known.shape().begin(), known.shape().end());
  if (own.front() != shape.front() || known.size() != shape.front() ||
      known.size() < 2)
    return 0;
  int64_t step = known.getInt(1);
  for (int64_t i = 0; i < known.size(); ++i)
    if (known.getInt(i) != i * step)
      return 0;
  return step;
}

/// Returns the value that is multiplied by `factor`; null if `value` is not
/// such a product.
static Value findFactor(Value value, int64_t factor) {
  auto product = value.getDefiningOp<MulOp>();
  if (!product)
    return {};
  for (auto [known, other] : {std::pair(product.getLhs(), product.getRhs()),
                              std::pair(product.getRhs(), product.getLhs())}) {
    std::optional<HostTensor> constant = getKnownInts(known);
    if (constant && constant->size() == 1 && constant->getInt(0) == factor)
      return other;
  }
  return {};
}

std::optional<SampleRows> findSampleRows(NodeBuilder &node, Value table,
                                         Value indices) {
  auto sum = indices.getDefiningOp<AddOp>();
  Shape shape(node.shapeOf(indices)), rows(node.shapeOf(table));
  if (!sum || shape.empty())
    return std::nullopt;
  for (auto [counter, index] : {std::pair(sum.getLhs(), sum.getRhs()),
                                std::pair(sum.getRhs(), sum.getLhs())}) {
    std::optional<HostTensor> known = getKnownInts(counter);
    int64_t step = known ? findStep(*known, shape) : 0;
    int64_t count = shape.front(), size = rows.front();
    if (step <= 0 || size % count != 0)
      continue;
    Shape split = {count, size / count};
    Value scaled = step == 1 ? findFactor(index, count) : Value();
    if (scaled)
      std::swap(split[0], split[1]);
    else if (step * count != size || step == 1)
      continue;
    Value own = scaled ? scaled : Value(index);
    Range range = getRange(own);
    if (!isData(own) && (range.low < 0 || range.high >= split[scaled ? 0 : 1]))
      continue;
    split.append(rows.begin() + 1, rows.end());
    table = node.reshape(table, split);
    return SampleRows{scaled ? node.swapDims(table, 0, 1) : table,
                      node.broadcast(own, shape)};
  }
  return std::nullopt;
}

} // namespace dtc::frontend
