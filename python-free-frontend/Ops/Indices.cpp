//===- Indices.cpp - checks the indices of lookups ------------------------===//
//
// See Indices.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/Indices.h"
#include "Ops/KnownValues.h"
#include "Shapes/ShapeRules.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

Expected<HostTensor> wrapIndices(const HostTensor &indices, int64_t size) {
  HostTensor result = indices;
  for (int64_t i = 0; i < result.size(); ++i) {
    auto index = normalizeIndex(result.getInt(i), size);
    if (!index)
      return index.takeError();
    result.setInt(i, *index);
  }
  return result;
}

Expected<Indices> checkIndices(NodeBuilder &node, Value indices, int64_t size,
                               bool isPart) {
  if (auto known = getKnownInts(indices)) {
    auto wrapped = wrapIndices(*known, size);
    if (!wrapped)
      return wrapped.takeError();
    return Indices{
        node.constant(wrapped->cast(fromType(node.elementType(indices)))), {}};
  }
  if (isData(indices) && !isPart)
    return Indices{indices, {}};
  Range range = getRange(indices);
  Value zero = node.scalar(0, indices), end = node.scalar(size, indices);
  if (range.low < 0)
    indices = node.select(node.compare(Comparison::lt, indices, zero),
                          node.add(indices, end), indices);
  Value areInside;
  if (range.low < -size || range.high >= size) {
    areInside = node.elementwise<LogicalAndOp>(
        {node.compare(Comparison::ge, indices, zero),
         node.compare(Comparison::lt, indices, end)});
    indices = node.select(areInside, indices, zero);
  }
  return Indices{indices, areInside};
}

Value dropOutside(NodeBuilder &node, Value rows, Value areInside,
                  int64_t rank) {
  if (!areInside)
    return rows;
  DType dtype = fromType(node.elementType(rows));
  double nothing = isFloat(dtype) ? NAN : dtype == DType::Bool ? 0 : INT32_MIN;
  Shape column(node.shapeOf(areInside));
  column.append(rank, 1);
  Value none = node.scalar(nothing, rows);
  return node.select(node.reshape(areInside, column), rows, none);
}

} // namespace dtc::frontend
