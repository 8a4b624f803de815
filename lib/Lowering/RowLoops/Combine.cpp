//===- Combine.cpp - code that combines elements of a reduction -----------===//

#include "dtc/Lowering/RowLoops/Combine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dtc;

Value dtc::combine(OpBuilder &b, Location loc, Operation *combiner, Value x,
                   Value y) {
  IRMapping mapping;
  mapping.map(combiner->getOperand(0), x);
  mapping.map(combiner->getOperand(1), y);
  Operation *clone = b.clone(*combiner, mapping);
  clone->setLoc(loc);
  Value result = clone->getResult(0);
  result.setType(x.getType());
  return result;
}

Value dtc::getNeutral(OpBuilder &b, Location loc, Operation *combiner,
                      Type type) {
  Type element = getElementTypeOrSelf(type);
  double value = isa<arith::AddFOp>(combiner)
                     ? 0.0
                     : -std::numeric_limits<double>::infinity();
  TypedAttr attribute = b.getFloatAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(b, loc, attribute);
}

Value dtc::reduceLanes(OpBuilder &b, Location loc, Operation *combiner,
                       Value x) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return x;
  int64_t size = llvm::PowerOf2Ceil(type.getNumElements());
  if (size != type.getNumElements()) {
    Value neutral = getNeutral(b, loc, combiner,
                               VectorType::get(size, type.getElementType()));
    x = vector::InsertStridedSliceOp::create(
        b, loc, x, neutral, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  }
  for (int64_t half = size / 2; half > 0; half /= 2) {
    auto slice = [&](int64_t from) -> Value {
      return vector::ExtractStridedSliceOp::create(
          b, loc, x, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
    };
    Value low = slice(0), high = slice(half);
    x = combine(b, loc, combiner, low, high);
  }
  return vector::ExtractOp::create(b, loc, x, 0);
}

Value dtc::castFloat(OpBuilder &b, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

RankedTensorType dtc::getWrittenType(const Statement &statement) {
  return cast<RankedTensorType>(
      (statement.result ? statement.result : statement.inputs[0].tensor)
          .getType());
}

FlatIndex dtc::getWrittenIndex(const Statement &statement) {
  return FlatIndex::get(statement.getOutPosition(),
                        getWrittenType(statement).getShape());
}

bool dtc::isSinglePrecisionSum(const Statement &statement) {
  return isa<arith::AddFOp>(statement.combiner) &&
         getWrittenType(statement).getElementType().isF32();
}
