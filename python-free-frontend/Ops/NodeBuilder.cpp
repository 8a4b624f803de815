//===- NodeBuilder.cpp - builds the dtc ops of one ONNX node --------------===//
//
// Builds common ops of import rules.
//
//===----------------------------------------------------------------------===//

#include "Ops/NodeBuilder.h"
#include "Shapes/ShapeRules.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace llvm;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

namespace dtc::frontend {

Type toType(mlir::MLIRContext *context, DType dtype) {
  mlir::Builder builder(context);
  switch (dtype) {
  case DType::F32:
    return builder.getF32Type();
  case DType::F64:
    return builder.getF64Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::I64:
    return builder.getI64Type();
  case DType::Bool:
    return builder.getI1Type();
  }
  llvm_unreachable("unknown element type");
}

DType fromType(Type type) {
  if (type.isF64())
    return DType::F64;
  if (type.isF32())
    return DType::F32;
  if (type.isInteger(64))
    return DType::I64;
  return type.isInteger(32) ? DType::I32 : DType::Bool;
}

Type NodeBuilder::toType(DType dtype) {
  return frontend::toType(builder.getContext(), dtype);
}

ArrayRef<int64_t> NodeBuilder::shapeOf(Value x) {
  return llvm::cast<RankedTensorType>(x.getType()).getShape();
}

Type NodeBuilder::elementType(Value x) {
  return llvm::cast<RankedTensorType>(x.getType()).getElementType();
}

RankedTensorType NodeBuilder::typeOf(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element);
}

Error NodeBuilder::requireFloat(unsigned i) const {
  if (isFloat(call.operands[i].dtype))
    return Error::success();
  return problem("operand " + Twine(i) + " has element type " +
                     toString(call.operands[i].dtype) +
                     " at run time, supported are f32 and f64",
                 "cast it to float in the model");
}

Shape NodeBuilder::joinShapes(SmallVectorImpl<Value> &values) {
  auto join = [&] {
    Shape shape;
    for (Value value : values)
      // Rules check their operands first, so shapes always broadcast here.
      shape = cantFail(broadcastShapes(shape, shapeOf(value)));
    return shape;
  };
  Shape shape = join();
  for (Value &value : values)
    if (auto repeat = value.getDefiningOp<BroadcastOp>()) {
      Value before = value;
      value = repeat.getX();
      if (join() != shape)
        value = before;
    }
  return shape;
}

Value NodeBuilder::compare(Comparison predicate, Value a, Value b) {
  SmallVector<Value> values{a, b};
  Shape shape = joinShapes(values);
  return create<CompareOp>(typeOf(shape, builder.getI1Type()), predicate,
                           values[0], values[1]);
}

Value NodeBuilder::select(Value condition, Value onTrue, Value onFalse) {
  if (!elementType(onTrue).isInteger(1))
    return elementwise<SelectOp>({condition, onTrue, onFalse}, 1);
  Value other = elementwise<LogicalNotOp>(condition);
  return elementwise<LogicalOrOp>(
      {elementwise<LogicalAndOp>({condition, onTrue}),
       elementwise<LogicalAndOp>({other, onFalse})});
}

Value NodeBuilder::constant(const HostTensor &tensor) {
  HostTensor compact = tensor.compacted();
  RankedTensorType type = typeOf(compact.shape(), toType(compact.dtype()));
  mlir::DenseElementsAttr value;
  int64_t size = compact.size();
  if (compact.dtype() == DType::F64) {
    SmallVector<double> elements;
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(compact.getFloat(i));
    value = mlir::DenseElementsAttr::get(type, ArrayRef(elements));
  } else if (compact.dtype() == DType::F32) {
    SmallVector<float> elements;
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(compact.getFloat(i));
    value = mlir::DenseElementsAttr::get(type, ArrayRef(elements));
  } else {
    SmallVector<APInt> elements;
    unsigned width = type.getElementTypeBitWidth();
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(APInt(width, compact.getInt(i), /*isSigned=*/true,
                               /*implicitTrunc=*/true));
    value = mlir::DenseElementsAttr::get(type, elements);
  }
  return broadcast(create<ConstantOp>(type, value), tensor.shape());
}

Value NodeBuilder::countAlong(int64_t size, int64_t dim, int64_t rank,
                              DType dtype) {
  HostTensor numbers(dtype, {size});
  for (int64_t i = 0; i < size; ++i)
    numbers.setInt(i, i);
  Shape shape(rank, 1);
  shape[dim] = size;
  return constant(numbers.reshaped(shape));
}

Value NodeBuilder::scalar(double value, Value like) {
  return constant(HostTensor::scalar(fromType(elementType(like)), value));
}

Value NodeBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  // A reshape of a reshape needs only the last shape.
  if (auto before = x.getDefiningOp<ReshapeOp>())
    x = before.getX();
  if (shapeOf(x) == shape)
    return x;
  return create<ReshapeOp>(typeOf(shape, elementType(x)), x);
}

Value NodeBuilder::broadcast(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  return create<BroadcastOp>(typeOf(shape, elementType(x)), x);
}

Value NodeBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  Shape shape;
  bool identity = true;
  for (auto [to, from] : enumerate(permutation)) {
    shape.push_back(shapeOf(x)[from]);
    identity &= int64_t(to) == from;
  }
  if (identity)
    return x;
  return create<TransposeOp>(typeOf(shape, elementType(x)), x, permutation);
}

Value NodeBuilder::swapDims(Value x, int64_t a, int64_t b) {
  Shape permutation;
  for (size_t d = 0; d < shapeOf(x).size(); ++d)
    permutation.push_back(d);
  std::swap(permutation[a], permutation[b]);
  return transpose(x, permutation);
}

Value NodeBuilder::channelsLast(Value x) {
  Shape permutation{0};
  for (size_t d = 2; d < shapeOf(x).size(); ++d)
    permutation.push_back(d);
  permutation.push_back(1);
  return transpose(x, permutation);
}

Value NodeBuilder::channelsFirst(Value x) {
  int64_t last = shapeOf(x).size() - 1;
  Shape permutation{0, last};
  for (int64_t d = 1; d < last; ++d)
    permutation.push_back(d);
  return transpose(x, permutation);
}

Value NodeBuilder::slice(Value x, int64_t axis, int64_t start, int64_t size) {
  Shape shape(shapeOf(x));
  if (shape[axis] == size)
    return x;
  shape[axis] = size;
  return create<SliceOp>(typeOf(shape, elementType(x)), x, axis, start);
}

Value NodeBuilder::cast(Value x, DType dtype) {
  Type element = toType(dtype);
  if (elementType(x) == element)
    return x;
  return create<CastOp>(typeOf(shapeOf(x), element), x);
}

Value NodeBuilder::mean(Value x, ArrayRef<int64_t> axes) {
  double count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  return mul(reduce<ReduceSumOp>(x, axes), scalar(1 / count, x));
}

} // namespace dtc::frontend
