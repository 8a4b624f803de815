//===- Take.cpp - elements at known indices -------------------------------===//
//
// See Take.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/Take.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

Value join(NodeBuilder &node, ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts[0];
  Shape shape(node.shapeOf(parts[0]));
  shape[axis] = 0;
  for (Value part : parts)
    shape[axis] += node.shapeOf(part)[axis];
  return node.create<ConcatOp>(node.typeOf(shape, node.elementType(parts[0])),
                               parts, axis);
}

/// Moves the axis to the front for the lookup, and the dimensions before it
/// back after the lookup.
Value lookUp(NodeBuilder &node, Value x, int64_t axis, Value indices) {
  int64_t rank = node.shapeOf(x).size();
  int64_t indexRank = node.shapeOf(indices).size();
  Shape toFront{axis}, back;
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis)
      toFront.push_back(d);
  for (int64_t d = 0; d < axis; ++d)
    back.push_back(indexRank + d);
  for (int64_t d = 0; d < indexRank; ++d)
    back.push_back(d);
  for (int64_t d = axis; d < rank - 1; ++d)
    back.push_back(indexRank + d);
  Value rows = node.create<GatherOp>(node.transpose(x, toFront), indices);
  return node.transpose(rows, back);
}

Value take(NodeBuilder &node, Value x, int64_t axis,
           ArrayRef<int64_t> indices) {
  // Splits indices into ranges that count up by one.
  constexpr size_t few = 16;
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t index : indices) {
    if (!runs.empty() && runs.back().first + runs.back().second == index)
      ++runs.back().second;
    else
      runs.push_back({index, 1});
  }
  if (runs.empty() || runs.size() > few)
    return lookUp(node, x, axis, node.constant(HostTensor::fromInts(indices)));
  SmallVector<Value> parts;
  for (auto [start, size] : runs)
    parts.push_back(node.slice(x, axis, start, size));
  return join(node, parts, axis);
}

/// `count` copies of a scalar along a dimension.
static Value fill(NodeBuilder &node, Value x, int64_t axis, int64_t count,
                  const HostTensor &value) {
  Shape shape(node.shapeOf(x));
  shape[axis] = count;
  return node.broadcast(
      node.constant(value.reshaped({}).cast(fromType(node.elementType(x)))),
      shape);
}

Value pad(NodeBuilder &node, Value x, int64_t axis, int64_t before,
          int64_t after, const HostTensor &value) {
  if (before == 0 && after == 0)
    return x;
  if (value.isFloat() && value.getFloat(0) == 0) {
    Shape shape(node.shapeOf(x));
    shape[axis] += before + after;
    return node.create<PadOp>(node.typeOf(shape, node.elementType(x)), x, axis,
                              before);
  }
  SmallVector<Value> parts;
  if (before > 0)
    parts.push_back(fill(node, x, axis, before, value));
  parts.push_back(x);
  if (after > 0)
    parts.push_back(fill(node, x, axis, after, value));
  return join(node, parts, axis);
}

Value getRepeated(NodeBuilder &node, Value x, int64_t dim) {
  auto repeat = x.getDefiningOp<BroadcastOp>();
  if (!repeat)
    return {};
  Shape shape(node.shapeOf(x));
  Shape source(node.shapeOf(repeat.getX()));
  source.insert(source.begin(), shape.size() - source.size(), 1);
  for (size_t d = 0; d < shape.size(); ++d)
    if (int64_t(d) < dim ? source[d] != shape[d] : source[d] != 1)
      return {};
  shape.resize(dim);
  return node.reshape(repeat.getX(), shape);
}

} // namespace dtc::frontend
