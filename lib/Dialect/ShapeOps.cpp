//===- ShapeOps.cpp - constraints of ops that move elements ---------------===//
//
// Constants, reshapes, transposes, slices, splits and concatenations.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Constraint of ops that change one dimension only.
static LogicalResult verifyOtherDims(Operation *op, Type a, Type b,
                                     int64_t axis) {
  auto x = cast<RankedTensorType>(a), y = cast<RankedTensorType>(b);
  if (x.getRank() != y.getRank() || x.getElementType() != y.getElementType())
    return op->emitOpError("operand and result are ")
           << a << " and " << b << ", expected the same rank and element type";
  if (axis < 0 || axis >= x.getRank())
    return op->emitOpError("axis ") << axis << " is not a dimension of " << a;
  for (int64_t dim = 0; dim < x.getRank(); ++dim)
    if (dim != axis && x.getDimSize(dim) != y.getDimSize(dim))
      return op->emitOpError("dimension ")
             << dim << " changes from " << x.getDimSize(dim) << " to "
             << y.getDimSize(dim) << ", expected a change of dimension " << axis
             << " only";
  return success();
}

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != withLayout(getResult().getType(), {}))
    return emitOpError("value is ") << getValue().getShapedType()
                                    << ", expected " << getResult().getType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getNumElements() != y.getNumElements() ||
      x.getElementType() != y.getElementType())
    return emitOpError("cannot turn ")
           << x << " into " << y
           << ", expected as many elements of the same type";
  return success();
}

std::optional<Alias> ReshapeOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

/// A partial operand has no alias: it may be reduced in place, and its
/// transpose separately.
std::optional<Alias> TransposeOp::getAlias(unsigned) {
  if (LayoutAttr layout = getLayout(getX().getType());
      layout && layout.hasPartial())
    return std::nullopt;
  RankedTensorType x = getLocalType(getX().getType());
  int64_t last = -1;
  for (int64_t dim : getPermutation()) {
    if (x.getDimSize(dim) == 1)
      continue;
    if (dim < last)
      return std::nullopt;
    last = dim;
  }
  return Alias{0, AliasKind::View};
}

std::optional<Alias> SliceOp::getAlias(unsigned) {
  RankedTensorType x = getLocalType(getX().getType());
  if (!getView() || llvm::product_of(x.getShape().take_front(getAxis())) != 1)
    return std::nullopt;
  return Alias{0, AliasKind::View};
}

LogicalResult
TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange regions,
                              SmallVectorImpl<Type> &types) {
  TransposeOpAdaptor adaptor(operands, attributes,
                             *properties.as<TransposeOp::Properties *>(),
                             regions);
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  SmallVector<int64_t> sorted(adaptor.getPermutation());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, x.getRank())))
    return emitOptionalError(location, "[", adaptor.getPermutation(),
                             "] is not a permutation of the dimensions of ", x);
  SmallVector<int64_t> shape;
  for (int64_t dim : adaptor.getPermutation())
    shape.push_back(x.getDimSize(dim));
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

static LogicalResult verifyRange(Operation *op, Type whole, Type part,
                                 int64_t axis, int64_t start) {
  if (failed(verifyOtherDims(op, whole, part, axis)))
    return failure();
  int64_t end = start + cast<ShapedType>(part).getDimSize(axis);
  int64_t size = cast<ShapedType>(whole).getDimSize(axis);
  if (start < 0 || end > size)
    return op->emitOpError("range ")
           << start << " .. " << end << " leaves dimension " << axis
           << " of size " << size;
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyRange(*this, getX().getType(), getY().getType(), getAxis(),
                     getStart());
}

LogicalResult PadOp::verify() {
  return verifyRange(*this, getY().getType(), getX().getType(), getAxis(),
                     getStart());
}

static LogicalResult verifyParts(Operation *op, Type whole, TypeRange parts,
                                 int64_t axis) {
  int64_t sum = 0;
  for (Type part : parts) {
    if (failed(verifyOtherDims(op, whole, part, axis)))
      return failure();
    sum += cast<ShapedType>(part).getDimSize(axis);
  }
  int64_t size = cast<ShapedType>(whole).getDimSize(axis);
  if (sum != size)
    return op->emitOpError("parts have ") << sum << " elements along dimension "
                                          << axis << ", the whole has " << size;
  return success();
}

LogicalResult SplitOp::verify() {
  return verifyParts(*this, getX().getType(), getResultTypes(), getAxis());
}

LogicalResult ConcatOp::verify() {
  return verifyParts(*this, getY().getType(), getOperandTypes(), getAxis());
}
