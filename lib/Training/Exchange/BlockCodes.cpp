//===- BlockCodes.cpp - quantisation in blocks with one scale each --------===//
//
// A row of elements is divided into blocks. Each block has a scale, and each
// element a code of 1, 4 or 8 bits. Codes of several bits are packed into i8.
//
//===----------------------------------------------------------------------===//

#include "ExchangeBuilder.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

namespace {

struct Codes {
  Value codes;  ///< i8, [..., blocks, bytes of a block]
  Value scales; ///< [..., blocks, 1]
};

/// Encodes and decodes tensors whose last dimension is a row of the unit.
class BlockCoder {
public:
  explicit BlockCoder(ExchangeBuilder &b)
      : b(b), kind(b.compressor.traits->kind),
        block(b.compressor.traits->block), bits(b.compressor.getBits()) {}

  /// `use` tells random numbers apart.
  Codes encode(Value x, StringRef use);
  Value decode(const Codes &codes);

private:
  Value createScale(Value blocks);
  Value createLevels(Value blocks, Value scale, StringRef use);
  Value drawNumbers(ArrayRef<int64_t> shape, StringRef use);
  Value getFeedbackScale(Value scale);
  Value pack(Value levels);
  Value unpack(Value codes);
  Value maskPadding(Value blocks);
  SmallVector<double> countElements() const;

  /// Largest magnitude of a level.
  double getMaxLevel() const { return std::exp2(bits - 1) - 1; }
  int64_t getFields() const { return 8 / bits; } ///< of a byte

  ExchangeBuilder &b;
  CompressorKind kind;
  int64_t block, bits;
};

} // namespace

static SmallVector<int64_t> getShape(Value x) {
  return SmallVector<int64_t>(getTensorType(x).getShape());
}

/// The number of elements of each block that are no padding.
SmallVector<double> BlockCoder::countElements() const {
  int64_t row = getShape(b.unit.gradient).back();
  SmallVector<double> counts(row / block, 0);
  for (const Segment &segment : b.unit.segments)
    for (int64_t done = 0; done < segment.size; done += block)
      counts[(segment.start + done) / block] =
          double(std::min(block, segment.size - done));
  return counts;
}

/// The value of the code 1. A block of zeros has scale zero.
Value BlockCoder::createScale(Value blocks) {
  int64_t last = getShape(blocks).size() - 1;
  switch (kind) {
  case CompressorKind::Sign: {
    SmallVector<double> shares;
    for (double count : countElements())
      shares.push_back(count == 0 ? 0 : 1 / count);
    auto number = static_cast<int64_t>(shares.size());
    return b.binary<MulOp>(b.sum(b.unary<AbsOp>(blocks), last),
                           b.constant({number, 1}, shares));
  }
  case CompressorKind::Qsgd: {
    Value norm = b.unary<SqrtOp>(b.sum(b.binary<MulOp>(blocks, blocks), last));
    return b.binary<MulOp>(norm, b.constant(1 / b.compressor.number));
  }
  default:
    return b.binary<MulOp>(b.max(b.unary<AbsOp>(blocks), last),
                           b.constant(1 / getMaxLevel()));
  }
}

/// Random numbers for blocks of this shape. Each tensor has its own.
Value BlockCoder::drawNumbers(ArrayRef<int64_t> shape, StringRef use) {
  SmallVector<int64_t> own(shape.drop_back());
  int64_t length = own.back() * block;
  SmallVector<Value> numbers;
  for (const Segment &segment : b.unit.segments) {
    own.back() = llvm::alignTo(segment.size, block);
    numbers.push_back(b.random(segment, own, use));
  }
  // The levels of padding are zero.
  return b.reshape(b.pad(b.concat(numbers, own.size() - 1), length), shape);
}

/// Whole numbers, of the elements' type: 0 or 1 with one bit, else from
/// -getMaxLevel() on.
Value BlockCoder::createLevels(Value blocks, Value scale, StringRef use) {
  Value zero = b.constant(0);
  if (kind == CompressorKind::Sign)
    return b.select(b.compare(Comparison::ge, blocks, zero), b.constant(1),
                    zero);
  // Also divides blocks of zeros.
  constexpr double tiny = 1e-30;
  Value ratio =
      b.binary<DivOp>(blocks, b.binary<MaximumOp>(scale, b.constant(tiny)));
  if (kind != CompressorKind::Qsgd)
    return b.unary<FloorOp>(b.binary<AddOp>(ratio, b.constant(0.5)));
  // Rounds up with the probability of the fraction.
  Value level = b.unary<FloorOp>(b.binary<AddOp>(
      b.unary<AbsOp>(ratio), drawNumbers(getShape(blocks), use)));
  level = b.binary<MinimumOp>(level, b.constant(b.compressor.number));
  return b.select(b.compare(Comparison::lt, blocks, zero),
                  b.unary<NegOp>(level), level);
}

/// Powers of two, [fields, 1]: 2^first for the first field of a byte, and
/// 2^step times as much for each next one.
static Value createWeights(ExchangeBuilder &b, int64_t fields, int64_t first,
                           int64_t step) {
  SmallVector<double> weights;
  for (int64_t field = 0; field < fields; ++field)
    weights.push_back(std::exp2(first + step * field));
  return b.constant({fields, 1}, weights);
}

/// Field j of byte i is element j * (bytes of a block) + i of the block.
Value BlockCoder::pack(Value levels) {
  Type byte = b.getI8Type();
  int64_t fields = getFields();
  if (fields == 1)
    return b.cast(levels, byte);
  if (kind != CompressorKind::Sign)
    levels = b.binary<AddOp>(levels, b.constant(std::exp2(bits - 1)));
  SmallVector<int64_t> shape = getShape(levels);
  shape.back() = fields;
  shape.push_back(block / fields);
  Value weighted = b.binary<MulOp>(b.reshape(levels, shape),
                                   createWeights(b, fields, 0, bits));
  Value bytes = b.sum(weighted, shape.size() - 2);
  shape.erase(shape.end() - 2);
  Value centered = b.binary<SubOp>(b.reshape(bytes, shape), b.constant(128));
  return b.cast(centered, byte);
}

Value BlockCoder::unpack(Value codes) {
  Value bytes = b.cast(codes, b.element);
  int64_t fields = getFields();
  if (fields == 1)
    return bytes;
  SmallVector<int64_t> shape = getShape(codes);
  shape.insert(shape.end() - 1, 1);
  bytes = b.reshape(b.binary<AddOp>(bytes, b.constant(128)), shape);
  auto shift = [&](int64_t by) {
    return b.unary<FloorOp>(
        b.binary<MulOp>(bytes, createWeights(b, fields, -by, -bits)));
  };
  Value above = b.binary<MulOp>(shift(bits), b.constant(std::exp2(bits)));
  Value levels = b.binary<SubOp>(shift(0), above);
  shape.erase(shape.end() - 2);
  shape.back() = block;
  levels = b.reshape(levels, shape);
  if (kind == CompressorKind::Sign) // 0 or 1 becomes -1 or 1
    return b.binary<SubOp>(b.binary<MulOp>(levels, b.constant(2)),
                           b.constant(1));
  return b.binary<SubOp>(levels, b.constant(std::exp2(bits - 1)));
}

/// Signs have no code for zero, which padding must stay.
Value BlockCoder::maskPadding(Value blocks) {
  SmallVector<double> counts = countElements(), positions;
  if (kind != CompressorKind::Sign ||
      llvm::all_of(counts, [&](double count) { return count == block; }))
    return blocks;
  for (int64_t i = 0; i < block; ++i)
    positions.push_back(double(i));
  auto number = static_cast<int64_t>(counts.size());
  Value isElement = b.compare(Comparison::lt, b.constant({block}, positions),
                              b.constant({number, 1}, counts));
  return b.select(isElement, blocks, b.constant(0));
}

Codes BlockCoder::encode(Value x, StringRef use) {
  SmallVector<int64_t> shape = getShape(x);
  int64_t row = shape.pop_back_val();
  shape.append({row / block, block});
  Value blocks = b.reshape(x, shape);
  Value scale = createScale(blocks);
  Value levels = createLevels(blocks, scale, use);
  return {pack(levels), getFeedbackScale(scale)};
}

/// Error feedback needs codes that stand for less than the value: those of
/// random levels are divided by 1 plus the bound of their variance (Richtárik,
/// Sokolov and Fatkhullin, arXiv 2106.05203, lemma 8).
Value BlockCoder::getFeedbackScale(Value scale) {
  if (kind != CompressorKind::Qsgd || b.feedback.kind == ErrorFeedback::Off)
    return scale;
  double levels = b.compressor.number, size = double(block);
  double variance =
      std::min(size / (levels * levels), std::sqrt(size) / levels);
  return b.binary<MulOp>(scale, b.constant(1 / (1 + variance)));
}

Value BlockCoder::decode(const Codes &codes) {
  SmallVector<int64_t> shape = getShape(codes.scales);
  Value blocks =
      maskPadding(b.binary<MulOp>(unpack(codes.codes), codes.scales));
  shape.pop_back();
  shape.back() *= block;
  return b.reshape(blocks, shape);
}

ExchangedSum dtc::sumBlockCodes(ExchangeBuilder &b, Value terms) {
  BlockCoder coder(b);
  Codes own = coder.encode(terms, "terms");
  Value sent = coder.decode(own);
  // Each rank gets the codes of its part from all others.
  constexpr int64_t blocksDim = 2;
  Codes parts = {b.exchange(own.codes, blocksDim),
                 b.exchange(own.scales, blocksDim)};
  Value sum =
      b.reshape(b.sum(coder.decode(parts), 0), getShape(b.unit.gradient));
  if (b.unit.isSharded)
    return {sum, sent};
  Value residual;
  if (b.feedback.kind != ErrorFeedback::Off) {
    residual = b.addStateOfSum("sum_residual", /*isSplit=*/true);
    sum = b.binary<AddOp>(sum, residual);
  }
  Codes ofSum = coder.encode(sum, "sum");
  if (residual)
    b.keep(residual, b.binary<SubOp>(sum, coder.decode(ofSum)));
  return {
      coder.decode({b.exchange(ofSum.codes, -1), b.exchange(ofSum.scales, -1)}),
      sent};
}
