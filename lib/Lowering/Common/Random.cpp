//===- Random.cpp - lowering of random numbers ----------------------------===//
//
// The random number of an element depends on its position in the global tensor.
// The op's attributes say which part of that tensor it makes.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

/// The row-major index of the current element in the global tensor. `parts` are
/// the indices of the result's part along each split. `openWays` is the number
/// of parts along a split whose size the op does not say.
static Value getPosition(RandomUniformOp op, StructuredBuilder &b,
                         ValueRange parts, Value openWays) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  auto add = [&](Value a, Value c) -> Value {
    return a ? arith::AddIOp::create(b, a, c).getResult() : c;
  };
  RankedTensorType type = op.getType();
  SmallVector<int64_t> strides(type.getRank());
  int64_t stride = 1, openDim = -1; // the dimension with openWays parts
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= type.getDimSize(dim);
    for (auto [own, ways] : llvm::zip_equal(op.getDims(), op.getWays()))
      if (own == dim && ways == 0)
        openDim = dim;
      else if (own == dim)
        stride *= ways;
  }
  // The strides of dimensions before openDim have the factor openWays.
  auto scale = [&](Value index, int64_t dim, int64_t stride) -> Value {
    if (stride != 1)
      index = arith::MulIOp::create(b, index, number(stride));
    return dim < openDim ? arith::MulIOp::create(b, index, openWays) : index;
  };
  // Terms that are constant within a row are added first.
  Value position;
  for (int64_t dim : llvm::seq<int64_t>(0, type.getRank())) {
    Value part;
    for (auto [own, ways, value] :
         llvm::zip_equal(op.getDims(), op.getWays(), parts)) {
      if (own != dim)
        continue;
      if (part)
        part = arith::MulIOp::create(b, part, ways ? number(ways) : openWays);
      part = add(part, value);
    }
    if (part)
      position =
          add(position, scale(part, dim, strides[dim] * type.getDimSize(dim)));
  }
  for (int64_t dim : llvm::seq<int64_t>(0, type.getRank())) {
    Value index = arith::IndexCastOp::create(b, b.getI64Type(),
                                             linalg::IndexOp::create(b, dim));
    position = add(position, scale(index, dim, strides[dim]));
  }
  return position ? position : number(0);
}

/// (word / 2^9 + 1/2) / 2^23.
static Value toUnit(StructuredBuilder &b, Value word, Type type) {
  Value bits = arith::ShRUIOp::create(
      b, word, arith::ConstantOp::create(b, b.getI32IntegerAttr(9)));
  Value number = arith::SIToFPOp::create(b, type, bits);
  number = arith::AddFOp::create(b, number, b.constant(type, 0.5));
  return arith::MulFOp::create(b, number, b.constant(type, 0x1p-23));
}

static SmallVector<Value> lowerRandomUniform(RandomUniformOp op,
                                             StructuredBuilder &b) {
  RankedTensorType type = op.getType();
  AffineMap scalar = AffineMap::get(type.getRank(), 0, b.getContext());
  AffineMap first = AffineMap::get(type.getRank(), 0,
                                   b.getAffineConstantExpr(0), b.getContext());
  SmallVector<AffineMap> maps = {scalar, scalar};
  maps.append(op.getParts().size(), first);
  if (op.getOpenWays())
    maps.back() = scalar;
  return {b.map(type, op->getOperands(), maps,
                [&](StructuredBuilder &inner, ValueRange v) {
                  Value step =
                      arith::FPToUIOp::create(inner, inner.getI64Type(), v[1]);
                  ValueRange parts = v.slice(2, op.getParts().size());
                  Value openWays;
                  if (op.getOpenWays()) {
                    openWays = arith::FPToUIOp::create(
                        inner, inner.getI64Type(), parts.back());
                    parts = parts.drop_back();
                  }
                  Value position = getPosition(op, inner, parts, openWays);
                  Value word = PhiloxOp::create(inner, inner.getI32Type(), v[0],
                                                step, position, op.getId());
                  return toUnit(inner, word, type.getElementType());
                })};
}

void dtc::registerRandomLowerings(MLIRContext *context) {
  attachLowering<RandomUniformOp, lowerRandomUniform>(context);
}
