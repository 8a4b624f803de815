//===- Shape.cpp - lowering of ops that move elements ---------------------===//
//
// Permutations and broadcasts are maps with other indexing maps. Ranges are
// slices of tensors.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

using Values = SmallVector<Value>;

static Value first(StructuredBuilder &, ValueRange v) { return v[0]; }

static SmallVector<OpFoldResult> getIndices(Builder &b,
                                            ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> OpFoldResult {
    return b.getIndexAttr(value);
  });
}

/// Extracts a tensor of `type`'s shape from `x`, from `start` on along `axis`.
static Value buildExtract(StructuredBuilder &b, Value x, RankedTensorType type,
                          int64_t axis, int64_t start) {
  SmallVector<int64_t> offsets(type.getRank(), 0), ones(type.getRank(), 1);
  offsets[axis] = start;
  return tensor::ExtractSliceOp::create(b, type, x, getIndices(b, offsets),
                                        getIndices(b, type.getShape()),
                                        getIndices(b, ones));
}

static Values lowerConstant(ConstantOp op, StructuredBuilder &b) {
  return {arith::ConstantOp::create(b, cast<TypedAttr>(op.getValue()))};
}

static Values lowerTranspose(TransposeOp op, StructuredBuilder &b) {
  // The loops are those of the result: loop i is dimension permutation[i] of
  // the operand.
  AffineMap map = inversePermutation(
      AffineMap::getPermutationMap(op.getPermutation(), b.getContext()));
  return {b.map(op.getY().getType(), op.getX(), map, first)};
}

static Values lowerBroadcast(BroadcastOp op, StructuredBuilder &b) {
  return {b.map(op.getY().getType(), op.getX(), first)};
}

static Values lowerSlice(SliceOp op, StructuredBuilder &b) {
  return {buildExtract(b, op.getX(), op.getY().getType(), op.getAxis(),
                       op.getStart())};
}

static Values lowerSplit(SplitOp op, StructuredBuilder &b) {
  Values parts;
  int64_t start = 0;
  for (Value part : op.getParts()) {
    auto type = cast<RankedTensorType>(part.getType());
    parts.push_back(buildExtract(b, op.getX(), type, op.getAxis(), start));
    start += type.getDimSize(op.getAxis());
  }
  return parts;
}

static Values lowerConcat(ConcatOp op, StructuredBuilder &b) {
  return {tensor::ConcatOp::create(b, op.getY().getType(), op.getAxis(),
                                   op.getParts())};
}

static Values lowerPad(PadOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getY().getType();
  auto axis = static_cast<int64_t>(op.getAxis());
  auto start = static_cast<int64_t>(op.getStart());
  int64_t end = start + op.getX().getType().getDimSize(axis);
  auto buildZeros = [&](int64_t size) -> Value {
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = size;
    auto zeros = RankedTensorType::get(shape, type.getElementType());
    return arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(zeros)));
  };
  SmallVector<Value> parts;
  if (start > 0)
    parts.push_back(buildZeros(start));
  parts.push_back(op.getX());
  if (end < type.getDimSize(axis))
    parts.push_back(buildZeros(type.getDimSize(axis) - end));
  return {tensor::ConcatOp::create(b, type, axis, parts)};
}

void dtc::registerShapeLowerings(MLIRContext *context) {
  attachLowering<ConstantOp, lowerConstant>(context);
  attachLowering<TransposeOp, lowerTranspose>(context);
  attachLowering<BroadcastOp, lowerBroadcast>(context);
  attachLowering<SliceOp, lowerSlice>(context);
  attachLowering<SplitOp, lowerSplit>(context);
  attachLowering<ConcatOp, lowerConcat>(context);
  attachLowering<PadOp, lowerPad>(context);
}
