//===- KnownElements.cpp - evaluate values that follow from constants -----===//
//
// Models compute masks from positions, for each sample anew. A value that
// repeats along a dimension is computed once for it.
//
//===----------------------------------------------------------------------===//

#include "KnownElements.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/Elementwise.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// Enough for a mask of 4096 rows and columns, which has half as many.
static constexpr int64_t mostElements = int64_t(1) << 25;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool KnownElements::convert(double &x, Type type) {
  if (type.isF64())
    return true;
  if (type.isF32()) {
    x = float(x);
    return true;
  }
  if (!type.isInteger())
    return false;
  unsigned bits = std::min(type.getIntOrFloatBitWidth(), 53U);
  return bits == 1 ? x == 0 || x == 1 : std::abs(x) < std::ldexp(1, bits - 1);
}

KnownElements::Result KnownElements::make(ArrayRef<int64_t> shape,
                                          std::vector<double> numbers) {
  return std::make_shared<Few>(
      Few{llvm::to_vector(shape),
          std::make_shared<const std::vector<double>>(std::move(numbers))});
}

KnownElements::Result KnownElements::read(DenseElementsAttr constant) {
  if (!constant)
    return {};
  auto shape = llvm::to_vector(constant.getType().getShape());
  if (constant.isSplat())
    shape.assign(shape.size(), 1);
  else if (constant.getNumElements() > mostElements)
    return {};
  std::vector<double> numbers;
  auto append = [&](auto elements, auto toNumber) {
    for (const auto &element : elements) {
      numbers.push_back(toNumber(element));
      if (constant.isSplat())
        break;
    }
  };
  if (isa<FloatType>(constant.getElementType()))
    append(constant.getValues<APFloat>(),
           [](const APFloat &x) { return x.convertToDouble(); });
  else if (constant.getElementType().isInteger(1))
    append(constant.getValues<bool>(), [](bool x) { return double(x); });
  else
    append(constant.getValues<APInt>(),
           [](const APInt &x) { return double(x.getSExtValue()); });
  if (!llvm::all_of(numbers, [&](double &x) {
        return convert(x, constant.getElementType());
      }))
    return {};
  return make(shape, std::move(numbers));
}

/// Matches dimensions in groups of equal products. A group must repeat as a
/// whole, or not at all.
KnownElements::Result KnownElements::reshape(const Few &x,
                                             ArrayRef<int64_t> from,
                                             ArrayRef<int64_t> to) {
  SmallVector<int64_t> shape;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t firstOld = i, firstNew = j;
    int64_t left = i < from.size() ? from[i++] : 1;
    int64_t right = j < to.size() ? to[j++] : 1;
    while (left != right) {
      if (left < right && i < from.size())
        left *= from[i++];
      else if (left > right && j < to.size())
        right *= to[j++];
      else
        return {};
    }
    auto own = ArrayRef(x.shape).slice(firstOld, i - firstOld);
    auto repeats = [](int64_t size) { return size == 1; };
    bool isWhole = own == from.slice(firstOld, i - firstOld);
    if (!isWhole && !llvm::all_of(own, repeats))
      return {};
    for (int64_t size : to.slice(firstNew, j - firstNew))
      shape.push_back(isWhole ? size : 1);
  }
  return std::make_shared<Few>(Few{shape, x.elements});
}

/// Evaluates an op on the elements at one position of each operand.
KnownElements::Result KnownElements::map(Operation *op) {
  SmallVector<Result> operands;
  SmallVector<int64_t> shape;
  size_t rank = 0;
  for (Value operand : op->getOperands()) {
    Result x = evaluate(operand);
    if (!x)
      return {};
    rank = std::max(rank, x->shape.size());
    operands.push_back(x);
  }
  // The position of each operand, and its strides along each dimension.
  SmallVector<const double *> places;
  SmallVector<SmallVector<int64_t>> strides;
  shape.assign(rank, 1);
  for (const Result &x : operands) {
    places.push_back(x->elements->data());
    SmallVector<int64_t> &own = strides.emplace_back(rank);
    int64_t stride = 1;
    for (size_t dim = rank, left = x->shape.size(); left > 0;) {
      int64_t size = x->shape[--left];
      own[--dim] = size == 1 ? 0 : stride;
      stride *= size;
      shape[dim] = std::max(shape[dim], size);
    }
  }
  int64_t count = 1;
  for (int64_t size : shape)
    if ((count *= size) > mostElements) {
      hasTooMany = true;
      return {};
    }
  Type type = getElementTypeOrSelf(op->getResult(0));
  SmallVector<double> arguments(operands.size());
  SmallVector<int64_t> indices(rank);
  std::vector<double> numbers;
  numbers.reserve(count);
  for (int64_t number = 0; number < count; ++number) {
    for (auto [place, argument] : llvm::zip(places, arguments))
      argument = *place;
    numbers.push_back(*evaluateElement(op, arguments));
    if (!convert(numbers.back(), type))
      return {};
    for (size_t dim = rank; dim-- > 0;) {
      bool isLast = ++indices[dim] == shape[dim];
      int64_t steps = isLast ? 1 - shape[dim] : 1;
      for (auto [place, own] : llvm::zip(places, strides))
        place += steps * own[dim];
      if (!isLast)
        break;
      indices[dim] = 0;
    }
  }
  return make(shape, std::move(numbers));
}

KnownElements::Result KnownElements::evaluate(Operation *op,
                                              ArrayRef<int64_t> shape) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](ConstantOp own) {
        return read(dyn_cast<DenseElementsAttr>(own.getValue()));
      })
      .Case([&](BroadcastOp own) -> Result {
        Result x = evaluate(own.getX());
        if (!x)
          return {};
        SmallVector<int64_t> sizes(shape.size() - x->shape.size(), 1);
        llvm::append_range(sizes, x->shape);
        return std::make_shared<Few>(Few{sizes, x->elements});
      })
      .Case([&](ReshapeOp own) {
        Result x = evaluate(own.getX());
        return x ? reshape(*x, shapeOf(own.getX()), shape) : Result();
      })
      .Default(
          [&](Operation *own) { return isMapped(own) ? map(own) : Result(); });
}

bool KnownElements::isMapped(Operation *op) {
  return isa<CastOp, CompareOp, LogicalAndOp, LogicalOrOp, LogicalNotOp,
             SelectOp, AddOp, SubOp, MulOp>(op);
}

std::optional<KnownElements::Few> KnownElements::getFew(Value value) {
  Result x = evaluate(value);
  return x ? std::optional(*x) : std::nullopt;
}

KnownElements::Result KnownElements::evaluate(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  Result result = op ? evaluate(op, shapeOf(value)) : Result();
  return known[value] = result;
}

void KnownElements::warnOfComputed(Operation *mask) {
  mask->emitWarning(
      "the program computes this attention mask in each step: it has too many "
      "elements to evaluate at compile time, expected at most ")
      << mostElements << " for a sample";
}

DenseElementsAttr KnownElements::get(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return dyn_cast<DenseElementsAttr>(constant.getValue());
  Result x = evaluate(value);
  if (std::exchange(hasTooMany, false))
    warnOfComputed(value.getDefiningOp());
  if (!x || (!element.isF32() && !element.isF64() && !element.isInteger(1)))
    return {};
  SmallVector<int64_t> shape = x->shape;
  if (x->elements->size() == 1) // all elements are equal
    shape = llvm::to_vector(type.getShape());
  if (!shape.empty() && shape.back() != type.getShape().back())
    return {};
  auto own = RankedTensorType::get(shape, element);
  if (element.isF64())
    return DenseElementsAttr::get(own, ArrayRef(*x->elements));
  if (element.isF32()) {
    std::vector<float> elements(x->elements->begin(), x->elements->end());
    return DenseElementsAttr::get(own, ArrayRef(elements));
  }
  SmallVector<bool> elements;
  for (double number : *x->elements)
    elements.push_back(number != 0);
  return DenseElementsAttr::get(own, ArrayRef<bool>(elements));
}
