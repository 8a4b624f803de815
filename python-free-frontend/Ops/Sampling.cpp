//===- Sampling.cpp - image elements at computed places -------------------===//
//
// See Sampling.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/Sampling.h"
#include "Ops/Elementwise.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

Tap makeTap(NodeBuilder &node, Value position, Value weight, int64_t size) {
  Value zero = node.scalar(0, position);
  Value inside = node.elementwise<LogicalAndOp>(
      {node.compare(Comparison::ge, position, zero),
       node.compare(Comparison::le, position,
                    node.scalar(size - 1, position))});
  Value index = node.cast(node.select(inside, position, zero), DType::I64);
  return {index, node.select(inside, weight, zero)};
}

Taps makeLinearTaps(NodeBuilder &node, Value place, int64_t size) {
  Value one = node.scalar(1, place), first = buildFloor(node, place);
  Value rest = node.sub(place, first);
  return {makeTap(node, first, node.sub(one, rest), size),
          makeTap(node, node.add(first, one), rest, size)};
}

Value sample(NodeBuilder &node, Value images, ArrayRef<Taps> taps) {
  Shape shape(node.shapeOf(images));
  // Combine the taps of one dimension after the other.
  Taps joined = taps[0];
  for (auto [d, ofDim] : enumerate(taps.drop_front())) {
    Taps tuples;
    for (const Tap &outer : joined)
      for (const Tap &inner : ofDim) {
        Value size = node.scalar(shape[2 + d], outer.index);
        tuples.push_back({node.add(node.mul(outer.index, size), inner.index),
                          node.mul(outer.weight, inner.weight)});
      }
    joined = tuples;
  }
  int64_t elements = numElements(ArrayRef(shape).drop_front().drop_back());
  Value table = node.reshape(images, {shape.front(), elements, shape.back()});
  Shape column(node.shapeOf(joined[0].weight));
  column.push_back(1);
  Value sum;
  for (const Tap &tap : joined) {
    Value rows = node.create<GatherOp>(table, tap.index, /*batchDims=*/1);
    Value part = node.mul(rows, node.reshape(tap.weight, column));
    sum = sum ? node.add(sum, part) : part;
  }
  return sum;
}

} // namespace dtc::frontend
