//===- TensorOps.cpp - types and constraints of tensor ops ----------------===//
//
// Infers result types from operand types, and verifies the constraints that the
// ops' documentation numbers.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Shared inference
//===----------------------------------------------------------------------===//

bool dtc::haveSameShapes(TypeRange a, TypeRange b) {
  return llvm::equal(a, b, [](Type x, Type y) {
    return withLayout(x, {}) == withLayout(y, {});
  });
}

bool dtc::areStoredResults(TypeRange inferred, TypeRange results) {
  return llvm::equal(inferred, results, [](Type x, Type y) {
    auto from = cast<RankedTensorType>(withLayout(x, {}));
    Type to = withLayout(y, {});
    return from == to ||
           from.clone(getComputeType(from.getElementType())) == to;
  });
}

bool dtc::haveSameComputeType(TypeRange types) {
  return llvm::all_equal(llvm::map_range(types, [](Type type) {
    return getComputeType(getElementTypeOrSelf(type));
  }));
}

static FailureOr<SmallVector<int64_t>>
broadcastShapes(std::optional<Location> location, ValueRange operands) {
  SmallVector<int64_t> shape;
  for (Value operand : operands) {
    ArrayRef<int64_t> other = cast<ShapedType>(operand.getType()).getShape();
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    unsigned offset = shape.size() - other.size();
    for (auto [dim, size] : llvm::enumerate(other)) {
      int64_t &wide = shape[offset + dim];
      if (wide == 1)
        wide = size;
      else if (size != 1 && size != wide)
        return emitOptionalError(location, "shapes do not broadcast: sizes ",
                                 wide, " and ", size, " of dimension ",
                                 offset + dim);
    }
  }
  return shape;
}

LogicalResult dtc::inferBroadcast(std::optional<Location> location,
                                  ValueRange operands, unsigned typeFrom,
                                  SmallVectorImpl<Type> &types) {
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(location, operands);
  if (failed(shape))
    return failure();
  Type element = getElementTypeOrSelf(operands[typeFrom].getType());
  for (Value operand : operands.drop_front(typeFrom))
    if (isFloat16(operand.getType()))
      element = getElementTypeOrSelf(operand.getType());
  types.push_back(RankedTensorType::get(*shape, element));
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(location, operands);
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, IntegerType::get(context, 1)));
  return success();
}

LogicalResult CastOp::verify() {
  if (getX().getType().getShape() != getY().getType().getShape())
    return emitOpError("changes the shape from ")
           << getX().getType() << " to " << getY().getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getX().getType().getShape();
  ArrayRef<int64_t> to = getY().getType().getShape();
  bool fits = from.size() <= to.size() && getX().getType().getElementType() ==
                                              getY().getType().getElementType();
  for (size_t dim = 0; fits && dim < from.size(); ++dim)
    fits = from[dim] == 1 || from[dim] == to[to.size() - from.size() + dim];
  return fits ? success()
              : emitOpError() << getX().getType() << " does not broadcast to "
                              << getY().getType();
}

//===----------------------------------------------------------------------===//
// Reductions, normalisation
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult
inferReduction(std::optional<Location> location, ValueRange operands,
               DictionaryAttr attributes, OpaqueProperties properties,
               RegionRange regions, SmallVectorImpl<Type> &types) {
  typename OpTy::Adaptor adaptor(operands, attributes,
                                 *properties.as<typename OpTy::Properties *>(),
                                 regions);
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  SmallVector<int64_t> shape(x.getShape());
  for (int64_t axis : adaptor.getAxes()) {
    if (axis < 0 || axis >= x.getRank())
      return emitOptionalError(location, "axis ", axis,
                               " is not a dimension of ", x);
    shape[axis] = 1;
  }
  types.push_back(
      RankedTensorType::get(shape, getComputeType(x.getElementType())));
  return success();
}

static LogicalResult verifyAxes(Operation *op, ArrayRef<int64_t> axes) {
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i - 1] >= axes[i])
      return op->emitOpError("axes [") << axes << "] do not ascend";
  return success();
}

LogicalResult
ReduceSumOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange regions,
                              SmallVectorImpl<Type> &types) {
  return inferReduction<ReduceSumOp>(location, operands, attributes, properties,
                                     regions, types);
}
LogicalResult ReduceSumOp::verify() { return verifyAxes(*this, getAxes()); }

LogicalResult
ReduceMaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange regions,
                              SmallVectorImpl<Type> &types) {
  return inferReduction<ReduceMaxOp>(location, operands, attributes, properties,
                                     regions, types);
}
LogicalResult ReduceMaxOp::verify() { return verifyAxes(*this, getAxes()); }

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(operands[0].getType());
  SmallVector<int64_t> rows(x.getShape());
  if (!rows.empty())
    rows.back() = 1;
  types.push_back(withLayout(x, {}));
  types.append(2,
               RankedTensorType::get(rows, getComputeType(x.getElementType())));
  return success();
}

LogicalResult LayerNormOp::verify() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  for (Value weight : {getScale(), getBias()})
    if (x.empty() ||
        cast<ShapedType>(weight.getType()).getShape() != x.take_back())
      return emitOpError("scale or bias is ")
             << weight.getType() << ", expected the last dimension of "
             << getX().getType();
  return success();
}
