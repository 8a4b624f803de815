//===- KnownValues.cpp - IR values that follow from constants -------------===//
//
// See KnownValues.h.
//
//===----------------------------------------------------------------------===//

#include "KnownValues.h"

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

bool areDistinct(Value indices, int64_t dim) {
  Operation *op = indices.getDefiningOp();
  if (!op)
    return false;
  if (auto marked = op->getAttrOfType<mlir::IntegerAttr>(distinct))
    return marked.getInt() == dim;
  if (auto transpose = dyn_cast<TransposeOp>(op))
    dim = transpose.getPermutation()[dim];
  else if (!isa<SliceOp>(op))
    return false;
  return areDistinct(op->getOperand(0), dim);
}

void eraseMarks(Operation *op) {
  op->walk([](Operation *inner) { inner->removeAttr(distinct); });
}

bool isData(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp, CastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

} // namespace dtc::frontend
