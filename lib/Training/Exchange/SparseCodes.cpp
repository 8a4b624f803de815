//===- SparseCodes.cpp - a share of the elements --------------------------===//
//
// Each tensor of a unit sends k of its elements: those of largest magnitude, or
// random ones, the same on all ranks.
//
//===----------------------------------------------------------------------===//

#include "ExchangeBuilder.h"

using namespace mlir;
using namespace dtc;

/// The places, in a row, of the elements of each tensor with the largest
/// magnitudes.
static Value selectLargest(ExchangeBuilder &b, Value x) {
  SmallVector<int64_t> shape(getTensorType(x).getShape());
  int64_t dim = shape.size() - 1;
  SmallVector<Value> selected;
  for (const Segment &segment : b.unit.segments) {
    shape[dim] = b.compressor.getCount(segment.size);
    auto type = RankedTensorType::get(shape, b.getI32Type());
    Value places = TopKOp::create(b, b.loc, type,
                                  b.slice(x, dim, segment.start, segment.size));
    if (segment.start > 0) {
      auto scalar = RankedTensorType::get({}, b.getI32Type());
      Value start = ConstantOp::create(
          b, b.loc, scalar,
          DenseElementsAttr::get(scalar, int32_t(segment.start)));
      places = b.binary<AddOp>(places, start);
    }
    selected.push_back(places);
  }
  return b.concat(selected, dim);
}

/// Puts values at their places of a tensor of zeros. The first dimensions of
/// all three are one.
static Value scatter(ExchangeBuilder &b, Value places, Value values,
                     ArrayRef<int64_t> shape) {
  return ScatterAddOp::create(b, b.loc, RankedTensorType::get(shape, b.element),
                              places, values, shape.size() - 1);
}

/// [ranks, parts, k] as [parts, ranks * k].
static Value joinRanks(ExchangeBuilder &b, Value x) {
  ArrayRef<int64_t> shape = getTensorType(x).getShape();
  Value moved = TransposeOp::create(b, b.loc, x, ArrayRef<int64_t>{1, 0, 2});
  return b.reshape(moved, {shape[1], shape[0] * shape[2]});
}

static ExchangedSum sumLargest(ExchangeBuilder &b, Value terms) {
  ArrayRef<int64_t> shape = getTensorType(terms).getShape();
  Value places = selectLargest(b, terms);
  Value values = GatherOp::create(b, b.loc, terms, places, 2);
  Value sent = scatter(b, places, values, shape);
  Value all = scatter(b, joinRanks(b, b.exchange(places, -1)),
                      joinRanks(b, b.exchange(values, -1)), shape.drop_front());
  return {all, sent};
}

/// Random numbers for a row: the largest of them select its elements.
static Value drawRow(ExchangeBuilder &b, ArrayRef<int64_t> row) {
  SmallVector<int64_t> shape(row);
  SmallVector<Value> numbers;
  for (const Segment &segment : b.unit.segments) {
    shape.back() = segment.size;
    numbers.push_back(b.random(segment, shape, "places"));
  }
  return b.pad(b.concat(numbers, shape.size() - 1), row.back());
}

/// All ranks draw the same places, so the values add up. Without error
/// feedback, values are scaled such that their mean is that of all elements.
static ExchangedSum sumRandom(ExchangeBuilder &b, Value terms) {
  ArrayRef<int64_t> row = getTensorType(terms).getShape().drop_front();
  Value places = selectLargest(b, drawRow(b, row));
  SmallVector<int64_t> shape = {b.unit.ranks};
  llvm::append_range(shape, getTensorType(places).getShape());
  Value ofRanks = b.broadcast(places, shape);
  Value values = GatherOp::create(b, b.loc, terms, ofRanks, 2);
  // All elements reach the norm if one is NaN or infinite, drawn or not: zero
  // times it is NaN.
  values =
      b.binary<AddOp>(values, b.sum(b.binary<MulOp>(terms, b.constant(0)), 2));
  if (b.feedback.kind == ErrorFeedback::Off) {
    SmallVector<double> factors;
    for (const Segment &segment : b.unit.segments) {
      int64_t count = b.compressor.getCount(segment.size);
      factors.append(count, double(segment.size) / double(count));
    }
    auto count = static_cast<int64_t>(factors.size());
    values = b.binary<MulOp>(values, b.constant({count}, factors));
  }
  Value sent = scatter(b, ofRanks, values, getTensorType(terms).getShape());
  Value sum = b.exchange(
      b.reshape(b.sum(values, 0), getTensorType(places).getShape()), -1);
  return {scatter(b, places, sum, row), sent};
}

ExchangedSum dtc::sumSparseCodes(ExchangeBuilder &b, Value terms) {
  // Each shard of a row selects by itself.
  ArrayRef<int64_t> shape = getTensorType(terms).getShape();
  ArrayRef<int64_t> whole = getTensorType(b.unit.gradient).getShape();
  Value rows = b.reshape(
      terms, {shape[0], shape[1] * b.unit.shards, shape[2] / b.unit.shards});
  ExchangedSum made = b.compressor.traits->kind == CompressorKind::TopK
                          ? sumLargest(b, rows)
                          : sumRandom(b, rows);
  return {b.reshape(made.sum, whole), b.reshape(made.sent, shape)};
}
