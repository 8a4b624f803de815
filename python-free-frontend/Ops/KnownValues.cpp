//===- KnownValues.cpp - facts about IR values ----------------------------===//
//
// See KnownValues.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/KnownValues.h"

#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using mlir::Operation;
using mlir::Value;

namespace dtc::frontend {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<mlir::RankedTensorType>(value.getType()).getShape();
}

static HostTensor readConstant(ConstantOp op) {
  HostTensor result(DType::I64, shapeOf(op));
  auto elements = cast<mlir::DenseIntElementsAttr>(op.getValue());
  for (auto [i, element] : enumerate(elements.getValues<APInt>()))
    result.setInt(i, element.getBitWidth() == 1 ? element.getZExtValue()
                                                : element.getSExtValue());
  return result;
}

static HostTensor slice(const HostTensor &x, ArrayRef<int64_t> shape,
                        int64_t axis, int64_t start) {
  Shape strides = rowMajorStrides(x.shape());
  return x.view(shape, strides, start * strides[axis]);
}

std::optional<HostTensor> getKnownInts(Value value) {
  using Result = std::optional<HostTensor>;
  Operation *op = value.getDefiningOp();
  if (!op || !cast<mlir::RankedTensorType>(value.getType())
                  .getElementType()
                  .isInteger())
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return readConstant(constant);
  if (op->getNumOperands() != 1)
    return std::nullopt;
  Result x = getKnownInts(op->getOperand(0));
  if (!x)
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(value);
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](ReshapeOp) { return x->reshaped(shape); })
      .Case([&](BroadcastOp) { return x->broadcast(shape); })
      .Case([&](CastOp) { return *x; })
      .Case([&](TransposeOp o) { return x->transposed(o.getPermutation()); })
      .Case([&](SliceOp o) {
        return slice(*x, shape, o.getAxis(), o.getStart());
      })
      .Default([](Operation *) { return Result(); });
}

bool countsAlong(Value value, int64_t dim) {
  std::optional<HostTensor> known = getKnownInts(value);
  if (!known || dim >= known->rank())
    return false;
  int64_t stride = rowMajorStrides(known->shape())[dim];
  for (int64_t i = 0; i < known->size(); ++i)
    if (known->getInt(i) != i / stride % known->shape()[dim])
      return false;
  return true;
}

static constexpr StringLiteral distinct = "dtc.distinct";

void markDistinct(Value indices, int64_t dim) {
  mlir::Builder builder(indices.getContext());
  indices.getDefiningOp()->setAttr(distinct, builder.getI64IntegerAttr(dim));
}

/// Finds the dimension of `from` that has the elements of dimension `dim` of
/// its reshape `to`. Nothing if there is none.
static std::optional<int64_t> findDimension(ArrayRef<int64_t> from,
                                            ArrayRef<int64_t> to, int64_t dim) {
  int64_t inner = numElements(to.drop_front(dim + 1));
  for (int64_t own = 0; own < int64_t(from.size()); ++own)
    if (from[own] == to[dim] && numElements(from.drop_front(own + 1)) == inner)
      return own;
  return std::nullopt;
}

bool areDistinct(Value indices, int64_t dim) {
  Operation *op = indices.getDefiningOp();
  if (!op)
    return false;
  if (auto marked = op->getAttrOfType<mlir::IntegerAttr>(distinct))
    return marked.getInt() == dim;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    dim = transpose.getPermutation()[dim];
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    std::optional<int64_t> own = findDimension(
        reshape.getX().getType().getShape(), reshape.getType().getShape(), dim);
    if (!own)
      return false;
    dim = *own;
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    ArrayRef<int64_t> from = broadcast.getX().getType().getShape();
    ArrayRef<int64_t> to = broadcast.getType().getShape();
    int64_t own = dim - int64_t(to.size() - from.size());
    if (own < 0 || from[own] != to[dim])
      return false;
    dim = own;
  } else if (!isa<SliceOp>(op)) {
    return false;
  }
  return areDistinct(op->getOperand(0), dim);
}

void eraseMarks(Operation *op) {
  op->walk([](Operation *inner) { inner->removeAttr(distinct); });
}

namespace {
/// Finds ranges of integers, and of floats that are made only of integers and
/// constants. Other floats may be NaN, so they have no range.
class RangeFinder {
public:
  std::optional<Range> find(Value value, int depth = 0);

private:
  std::optional<Range> compute(Operation *op, int depth);
  DenseMap<Value, std::optional<Range>> found;
};
} // namespace

static Range join(Range a, Range b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// The range of a constant whose elements are all integers.
static std::optional<Range> readRange(ConstantOp op) {
  auto elements = dyn_cast<mlir::DenseElementsAttr>(op.getValue());
  if (!elements || elements.empty())
    return std::nullopt;
  std::optional<Range> range;
  auto add = [&](int64_t x) {
    range = range ? join(*range, {x, x}) : Range{x, x};
  };
  if (isa<mlir::DenseIntElementsAttr>(elements)) {
    for (APInt x : elements.getValues<APInt>())
      add(x.getBitWidth() == 1 ? x.getZExtValue() : x.getSExtValue());
    return range;
  }
  for (const APFloat &x : elements.getValues<APFloat>()) {
    APSInt whole(64, /*isUnsigned=*/false);
    bool isExact;
    if (x.convertToInteger(whole, APFloat::rmTowardZero, &isExact) !=
        APFloat::opOK)
      return std::nullopt;
    add(whole.getExtValue());
  }
  return range;
}

/// Whether floats and integers of at least 32 bits represent the range exactly.
static bool isExact(Range range) {
  constexpr int64_t largest = 1 << 24;
  return range.low >= -largest && range.high <= largest;
}

std::optional<Range> RangeFinder::find(Value value, int depth) {
  constexpr int most = 100;
  mlir::Type type = mlir::getElementTypeOrSelf(value);
  if (type.isInteger(1))
    return Range{0, 1};
  std::optional<Range> unknown;
  if (type.isInteger())
    unknown = Range{INT64_MIN, INT64_MAX};
  Operation *op = value.getDefiningOp();
  if (!op || depth == most || type.getIntOrFloatBitWidth() < 32)
    return unknown;
  auto [it, isNew] = found.try_emplace(value);
  if (!isNew)
    return it->second;
  std::optional<Range> range = compute(op, depth + 1);
  return found[value] = range ? range : unknown;
}

std::optional<Range> RangeFinder::compute(Operation *op, int depth) {
  using Result = std::optional<Range>;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return readRange(constant);
  mlir::ValueRange operands = op->getOperands();
  if (isa<SelectOp>(op))
    operands = operands.drop_front();
  else if (isa<GatherOp>(op))
    operands = operands.take_front();
  SmallVector<Range> of;
  for (Value operand : operands) {
    Result range = find(operand, depth);
    if (!range)
      return std::nullopt;
    of.push_back(*range);
  }
  auto larger = [&] {
    return Range{std::max(of[0].low, of[1].low),
                 std::max(of[0].high, of[1].high)};
  };
  auto smaller = [&] {
    return Range{std::min(of[0].low, of[1].low),
                 std::min(of[0].high, of[1].high)};
  };
  auto joinAll = [&](Range all) {
    for (Range each : of)
      all = join(all, each);
    return all;
  };
  Result result =
      TypeSwitch<Operation *, Result>(op)
          .Case<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, SplitOp,
                ReduceMaxOp, FloorOp, ConcatOp, GatherOp>(
              [&](auto) { return joinAll(of[0]); })
          .Case([&](PadOp) { return joinAll({0, 0}); })
          .Case([&](MaximumOp) { return larger(); })
          .Case([&](MinimumOp) { return smaller(); })
          .Case([&](SelectOp select) {
            // Recognizes x <= y ? y : x and x >= y ? y : x.
            auto compare = select.getCondition().getDefiningOp<CompareOp>();
            if (!compare || compare.getLhs() != select.getOnFalse() ||
                compare.getRhs() != select.getOnTrue())
              return joinAll(of[0]);
            if (compare.getPredicate() == Comparison::le)
              return larger();
            return compare.getPredicate() == Comparison::ge ? smaller()
                                                            : joinAll(of[0]);
          })
          .Default([](Operation *) { return Result(); });
  if (result || !all_of(of, isExact))
    return result;
  result = TypeSwitch<Operation *, Result>(op)
               .Case([&](CastOp) { return of[0]; })
               .Case([&](NegOp) { return Range{-of[0].high, -of[0].low}; })
               .Case([&](AddOp) {
                 return Range{of[0].low + of[1].low, of[0].high + of[1].high};
               })
               .Case([&](SubOp) {
                 return Range{of[0].low - of[1].high, of[0].high - of[1].low};
               })
               .Case([&](MulOp) {
                 Range all{INT64_MAX, INT64_MIN};
                 for (int64_t a : {of[0].low, of[0].high})
                   for (int64_t b : {of[1].low, of[1].high})
                     all = join(all, {a * b, a * b});
                 return all;
               })
               .Case([&](ReduceSumOp sum) {
                 int64_t count = numElements(shapeOf(sum.getX())) /
                                 numElements(shapeOf(sum));
                 return Range{of[0].low * count, of[0].high * count};
               })
               .Default([](Operation *) { return Result(); });
  return result && isExact(*result) ? result : std::nullopt;
}

Range getRange(Value integers) { return *RangeFinder().find(integers); }

bool isData(Value value) {
  auto isIndex = [](Value x) {
    mlir::Type type = mlir::getElementTypeOrSelf(x);
    return type.isInteger() && !type.isInteger(1);
  };
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp, CastOp>(op) ||
        !isIndex(value))
      return false;
    value = op->getOperand(0);
  }
  return isIndex(value);
}

} // namespace dtc::frontend
