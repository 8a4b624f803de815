//===- SparseCodes.cpp - a share of the elements --------------------------===//
//
// Each tensor of a unit sends k of its elements: those of largest magnitude, or
// random ones, the same on all ranks.
//
//===----------------------------------------------------------------------===//

#include "CompressionBuilder.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType getType(Value x) {
  return cast<RankedTensorType>(x.getType());
}

/// The places, in a row of the unit, of the elements with the largest
/// magnitudes of each tensor.
static Value selectLargest(CompressionBuilder &b, Value x) {
  SmallVector<int64_t> shape(getType(x).getShape());
  int64_t dim = shape.size() - 1;
  SmallVector<Value> selected;
  int64_t total = 0;
  for (const Segment &segment : b.unit.segments) {
    shape[dim] = segment.size;
    Value part = x;
    if (segment.size != getType(x).getDimSize(dim))
      part = SliceOp::create(b, b.loc,
                             RankedTensorType::get(shape, b.element), x, dim,
                             segment.start, /*view=*/true);
    shape[dim] = b.compressor.getCount(segment.size);
    total += shape[dim];
    auto type = RankedTensorType::get(shape, b.getI32Type());
    Value places = TopKOp::create(b, b.loc, type, part);
    if (segment.start > 0) {
      auto scalar = RankedTensorType::get({}, b.getI32Type());
      Value start = ConstantOp::create(
          b, b.loc, scalar,
          DenseElementsAttr::get(scalar, int32_t(segment.start)));
      places = b.binary<AddOp>(places, start);
    }
    selected.push_back(places);
  }
  if (selected.size() == 1)
    return selected.front();
  shape[dim] = total;
  return ConcatOp::create(b, b.loc,
                          RankedTensorType::get(shape, b.getI32Type()),
                          selected, dim);
}

/// Puts values at their places of a tensor of zeros. The first dimensions of
/// all three are one.
static Value scatter(CompressionBuilder &b, Value places, Value values,
                     ArrayRef<int64_t> shape) {
  return ScatterAddOp::create(b, b.loc,
                              RankedTensorType::get(shape, b.element), places,
                              values, shape.size() - 1);
}

/// [ranks, parts, k] as [parts, ranks * k].
static Value joinRanks(CompressionBuilder &b, Value x) {
  ArrayRef<int64_t> shape = getType(x).getShape();
  Value moved = TransposeOp::create(b, b.loc, x, ArrayRef<int64_t>{1, 0, 2});
  return b.reshape(moved, {shape[1], shape[0] * shape[2]});
}

static CompressedSum sumLargest(CompressionBuilder &b, Value terms) {
  ArrayRef<int64_t> shape = getType(terms).getShape();
  Value places = selectLargest(b, terms);
  Value values = GatherOp::create(b, b.loc, terms, places, 2);
  Value sent = scatter(b, places, values, shape);
  Value all = scatter(b, joinRanks(b, b.exchange(places, -1)),
                      joinRanks(b, b.exchange(values, -1)),
                      shape.drop_front());
  return {all, sent};
}

/// All ranks draw the same places, so the values add up.
static CompressedSum sumRandom(CompressionBuilder &b, Value terms) {
  ArrayRef<int64_t> row = getType(terms).getShape().drop_front();
  Value places = selectLargest(b, b.random(row));
  SmallVector<int64_t> shape = {b.unit.ranks};
  llvm::append_range(shape, getType(places).getShape());
  Value ofRanks = BroadcastOp::create(
      b, b.loc, RankedTensorType::get(shape, b.getI32Type()), places);
  Value values = GatherOp::create(b, b.loc, terms, ofRanks, 2);
  Value sent = scatter(b, ofRanks, values, getType(terms).getShape());
  Value sum = b.exchange(
      b.reshape(b.sum(values, 0), getType(places).getShape()), -1);
  return {scatter(b, places, sum, row), sent};
}

CompressedSum dtc::sumSparseCodes(CompressionBuilder &b, Value terms) {
  // Each shard of a row selects by itself.
  ArrayRef<int64_t> shape = getType(terms).getShape();
  ArrayRef<int64_t> whole = getType(b.unit.gradient).getShape();
  Value rows = b.reshape(terms, {shape[0], shape[1] * b.unit.shards,
                                 shape[2] / b.unit.shards});
  CompressedSum made = b.compressor.traits->kind == CompressorKind::TopK
                           ? sumLargest(b, rows)
                           : sumRandom(b, rows);
  return {b.reshape(made.sum, whole), b.reshape(made.sent, shape)};
}
