//===- ExpandPhilox.cpp - random numbers as integer arithmetic ------------===//
//
// Philox 4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw,
// Parallel random numbers: as easy as 1, 2, 3, SC 2011.
//
//===----------------------------------------------------------------------===//

#include "ExpandPhilox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dtc;

// The multipliers, and the increments of the keys: the golden ratio and the
// square root of 3, minus 1.
constexpr uint32_t multipliers[] = {0xD2511F53u, 0xCD9E8D57u};
constexpr uint32_t increments[] = {0x9E3779B9u, 0xBB67AE85u};
constexpr int numRounds = 10;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

namespace {

/// A vector whose lanes are `first`, a sum, plus 0, 1, 2, ...
struct Neighbours {
  SmallVector<Value> first;
  int64_t constant = 0, step = 0;
};

} // namespace

/// Adds the terms of a vector to `sum`. Returns false on an unknown term.
static bool addLanes(Value vector, Neighbours &sum) {
  if (auto add = vector.getDefiningOp<arith::AddIOp>())
    return addLanes(add.getLhs(), sum) && addLanes(add.getRhs(), sum);
  if (auto broadcast = vector.getDefiningOp<vector::BroadcastOp>()) {
    sum.first.push_back(broadcast.getSource());
    return !isa<VectorType>(broadcast.getSource().getType());
  }
  DenseIntElementsAttr elements;
  if (!matchPattern(vector, m_Constant(&elements)))
    return false;
  auto values = llvm::to_vector(elements.getValues<int64_t>());
  int64_t step = values.size() > 1 ? values[1] - values[0] : 0;
  for (auto [lane, value] : llvm::enumerate(values))
    if (value != values[0] + step * static_cast<int64_t>(lane))
      return false;
  sum.constant += values[0];
  sum.step += step;
  return true;
}

/// Whether an integer is known to be a multiple of 4.
static bool isMultipleOfFour(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.srem(4) == 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == value &&
           isMultipleOfFour(loop.getLowerBound()) &&
           isMultipleOfFour(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::IndexCastOp>(op))
    return isMultipleOfFour(op->getOperand(0));
  if (isa<arith::AddIOp>(op))
    return llvm::all_of(op->getOperands(), isMultipleOfFour);
  return isa<arith::MulIOp>(op) &&
         llvm::any_of(op->getOperands(), isMultipleOfFour);
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

namespace {

class Expansion {
public:
  explicit Expansion(PhiloxOp op) : op(op), b(op.getLoc(), op) {}

  Value run() {
    auto vector = dyn_cast<VectorType>(op.getPosition().getType());
    if (vector)
      if (Value first = getFirstOfBlock())
        return expandBlocks(first, vector.getNumElements());
    return expandLanes();
  }

private:
  Value getFirstOfBlock();
  Value expandBlocks(Value first, int64_t lanes);
  Value expandLanes();

  /// A constant of the type, the same in all lanes.
  Value constant(Type type, uint64_t value) {
    auto attribute = b.getIntegerAttr(
        getElementTypeOrSelf(type),
        APInt(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), value,
              /*isSigned=*/false, /*implicitTrunc=*/true));
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(
          b, DenseElementsAttr::get(vector, Attribute(attribute)));
    return arith::ConstantOp::create(b, attribute);
  }
  template <typename Op> Value binary(Value x, uint64_t value) {
    return Op::create(b, x, constant(x.getType(), value));
  }
  Value add(Value x, uint64_t value) { return binary<arith::AddIOp>(x, value); }
  Value bitAnd(Value x, uint64_t value) {
    return binary<arith::AndIOp>(x, value);
  }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value bitXor(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value shiftLeft(Value x, uint64_t bits) {
    return binary<arith::ShLIOp>(x, bits);
  }
  Value shiftRight(Value x, uint64_t bits) {
    return binary<arith::ShRUIOp>(x, bits);
  }
  /// The scalar that is broadcast to all lanes; null if there is none.
  static Value getScalar(Value value) {
    auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
    return broadcast ? broadcast.getSource() : value;
  }

  PhiloxOp op;
  ImplicitLocOpBuilder b;
};

} // namespace

/// The first position, if lanes are consecutive and start at a block; else
/// null.
Value Expansion::getFirstOfBlock() {
  Neighbours lanes;
  if (!addLanes(op.getPosition(), lanes) || lanes.step != 1 ||
      lanes.constant % 4 != 0 || !llvm::all_of(lanes.first, isMultipleOfFour) ||
      isa<VectorType>(getScalar(op.getSeed()).getType()) ||
      isa<VectorType>(getScalar(op.getStep()).getType()))
    return {};
  Value sum = constant(b.getI64Type(), lanes.constant);
  for (Value value : lanes.first)
    sum = arith::AddIOp::create(b, sum, value);
  return sum;
}

/// Two lanes of 64 bits hold a block: words 0 and 1, and words 2 and 3. The
/// products of their low halves give all four words of the next round.
Value Expansion::expandBlocks(Value first, int64_t lanes) {
  int64_t words = llvm::alignTo(lanes, 4), pairs = words / 2;
  auto wide = VectorType::get(pairs, b.getI64Type());
  auto narrow = VectorType::get(words, b.getI32Type());
  auto repeat = [&](Value even, Value odd) -> Value {
    SmallVector<bool> isEven;
    for (int64_t i = 0; i < pairs; ++i)
      isEven.push_back(i % 2 == 0);
    Value mask = arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get(pairs, b.getI1Type()),
                                  ArrayRef(isEven)));
    auto widen = [&](Value x) -> Value {
      return isa<VectorType>(x.getType())
                 ? x
                 : vector::BroadcastOp::create(b, wide, x).getResult();
    };
    return arith::SelectOp::create(b, mask, widen(even), widen(odd));
  };
  auto number = [&](uint64_t value) { return constant(b.getI64Type(), value); };

  SmallVector<int64_t> offsets, reversed;
  for (int64_t i = 0; i < pairs; ++i)
    offsets.push_back(i / 2);
  for (int64_t i = 0; i < words; ++i)
    reversed.push_back(i ^ 3);
  Value block = vector::BroadcastOp::create(b, wide, shiftRight(first, 2));
  block = arith::AddIOp::create(
      b, block,
      arith::ConstantOp::create(
          b, DenseElementsAttr::get(wide, ArrayRef(offsets))));
  Value step = getScalar(op.getStep()), seed = getScalar(op.getSeed());
  Value stepBits = vector::BroadcastOp::create(b, wide, shiftLeft(step, 32));
  Value high = shiftLeft(shiftRight(block, 32), 16);
  uint64_t rest = static_cast<uint64_t>(op.getId()) << 32 | op.getUse();
  Value state = repeat(bitOr(bitAnd(block, 0xFFFFFFFFu), stepBits),
                       bitOr(bitAnd(high, 0xFFFFFFFFu), constant(wide, rest)));

  Value factors = repeat(number(multipliers[0]), number(multipliers[1]));
  Value keys[] = {seed, shiftRight(seed, 32)};
  for (int round = 0; round < numRounds; ++round) {
    Value key =
        repeat(bitAnd(keys[0], 0xFFFFFFFFu), bitAnd(keys[1], 0xFFFFFFFFu));
    Value product =
        arith::MulIOp::create(b, bitAnd(state, 0xFFFFFFFFu), factors);
    Value turned = vector::BitCastOp::create(b, narrow, product);
    turned = vector::ShuffleOp::create(b, turned, turned, reversed);
    turned = vector::BitCastOp::create(b, wide, turned);
    state = bitXor(bitXor(turned, shiftRight(state, 32)), key);
    for (int i = 0; i < 2; ++i)
      keys[i] = add(keys[i], increments[i]);
  }
  Value result = vector::BitCastOp::create(b, narrow, state);
  if (words == lanes)
    return result;
  return vector::ExtractStridedSliceOp::create(b, result, ArrayRef<int64_t>{0},
                                               ArrayRef<int64_t>{lanes},
                                               ArrayRef<int64_t>{1});
}

/// Computes a block for each lane and takes one word of it.
Value Expansion::expandLanes() {
  Type type = op.getWord().getType();
  auto narrow = [&](Value x) -> Value {
    return arith::TruncIOp::create(b, type, x);
  };
  Value position = op.getPosition();
  Value block = shiftRight(position, 2);
  Value high = shiftLeft(shiftRight(block, 32), 16);
  Value words[] = {narrow(block), narrow(op.getStep()),
                   bitOr(narrow(high), constant(type, op.getUse())),
                   constant(type, op.getId())};
  Value keys[] = {narrow(op.getSeed()), narrow(shiftRight(op.getSeed(), 32))};
  for (int round = 0; round < numRounds; ++round) {
    auto multiply = [&](int i) {
      return arith::MulUIExtendedOp::create(b, words[2 * i],
                                            constant(type, multipliers[i]));
    };
    auto first = multiply(0), second = multiply(1);
    Value next[] = {
        bitXor(bitXor(second.getHigh(), words[1]), keys[0]), second.getLow(),
        bitXor(bitXor(first.getHigh(), words[3]), keys[1]), first.getLow()};
    llvm::copy(next, words);
    for (int i = 0; i < 2; ++i)
      keys[i] = add(keys[i], increments[i]);
  }
  Value which = narrow(bitAnd(position, 3));
  Value word = words[0];
  for (int i = 1; i < 4; ++i)
    word = arith::SelectOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, which,
                              constant(type, i)),
        words[i], word);
  return word;
}

Value dtc::expandPhilox(PhiloxOp op) { return Expansion(op).run(); }
