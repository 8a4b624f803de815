//===- Vjp.cpp - builder for gradient rules -------------------------------===//
//
// Builds ops and infers their result types.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> getShape(Value value) {
  return llvm::cast<ShapedType>(value.getType()).getShape();
}

RankedTensorType dtc::getGradientType(Value value) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  if (!isFloat16(type))
    return type;
  while (isa_and_nonnull<BroadcastOp, ReshapeOp, TransposeOp, BoundaryOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto cast = value.getDefiningOp<CastOp>();
  return cast && cast.getX().getType().getElementType().isF32()
             ? type.clone(cast.getX().getType().getElementType())
             : type;
}

Value Vjp::constant(Value like, double value) {
  Type elementType = getComputeType(getElementTypeOrSelf(like.getType()));
  auto type = RankedTensorType::get({}, elementType);
  return create<ConstantOp>(
      type, DenseElementsAttr::get(type, FloatAttr::get(elementType, value)));
}

Value Vjp::cast(Value x, Type elementType) {
  auto type = llvm::cast<RankedTensorType>(x.getType());
  if (type.getElementType() == elementType)
    return x;
  // Casts before the broadcast, so that the result stays a broadcast: each rank
  // and micro-batch makes its part of it when needed.
  if (auto repeat = x.getDefiningOp<BroadcastOp>())
    return create<BroadcastOp>(type.clone(elementType),
                               cast(repeat.getX(), elementType));
  return create<CastOp>(type.clone(elementType), x);
}

Value Vjp::reshape(Value x, Type type) {
  Type to = llvm::cast<RankedTensorType>(type).clone(
      getElementTypeOrSelf(x.getType()));
  return x.getType() == to ? x : Value(create<ReshapeOp>(to, x));
}

/// Whether a factor of `product` is constant along the axes, such as a factor
/// for each channel. Scalars are not moved.
static bool isRepeated(Value factor, Value product, ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> shape = getShape(factor);
  ArrayRef<int64_t> full = getShape(product);
  int64_t offset = int64_t(full.size() - shape.size());
  auto isOne = [&](int64_t axis) {
    return axis < offset || shape[axis - offset] == 1;
  };
  return llvm::any_of(shape, [](int64_t size) { return size != 1; }) &&
         llvm::all_of(axes, isOne) &&
         llvm::any_of(axes, [&](int64_t axis) { return full[axis] != 1; });
}

Value Vjp::sum(Value x, ArrayRef<int64_t> axes) {
  auto negative = x.getDefiningOp<NegOp>();
  Value terms = negative ? negative.getX() : x;
  if (auto product = terms.getDefiningOp<MulOp>())
    for (auto [factor, other] : {std::pair(product.getRhs(), product.getLhs()),
                                 std::pair(product.getLhs(), product.getRhs())})
      if (getShape(other) == getShape(x) && isRepeated(factor, x, axes)) {
        Value total = sum(other, axes); // in the type that sums are computed in
        Value result =
            mul(total, cast(factor, getElementTypeOrSelf(total.getType())));
        return negative ? neg(result) : result;
      }
  return create<ReduceSumOp>(x, axes);
}

Value Vjp::sumLastDim(Value x) {
  return sum(x, llvm::cast<ShapedType>(x.getType()).getRank() - 1);
}

Value Vjp::unbroadcast(Value x, Type type) {
  ArrayRef<int64_t> from = getShape(x);
  ArrayRef<int64_t> to = llvm::cast<ShapedType>(type).getShape();
  int64_t offset = from.size() - to.size();
  SmallVector<int64_t> repeated;
  for (int64_t dim = 0, rank = from.size(); dim < rank; ++dim)
    // Sums over a dimension that the operand lacks, even if it has size 1: a
    // batch of one sample is still split over ranks and micro-batches.
    if (dim < offset || (from[dim] != 1 && to[dim - offset] == 1))
      repeated.push_back(dim);
  return reshape(repeated.empty() ? x : sum(x, repeated), type);
}
