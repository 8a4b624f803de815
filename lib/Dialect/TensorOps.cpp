//===- TensorOps.cpp - types and constraints of tensor ops ----------------===//
//
// Result types from operand types, and the constraints that the ops' docs
// number.
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

/// Constraint shared by ops that change one dimension only.
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
// Shape
//===----------------------------------------------------------------------===//

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

/// What is partial may be reduced in place, and its transpose apart from it.
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

//===----------------------------------------------------------------------===//
// Products, lookups
//===----------------------------------------------------------------------===//

LogicalResult MatMulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties properties,
                                         RegionRange,
                                         SmallVectorImpl<Type> &types) {
  // A builder that sets no flag passes no properties.
  auto *flags = properties.as<MatMulOp::Properties *>();
  bool transposeA = flags && flags->transpose_lhs;
  bool transposeB = flags && flags->transpose_rhs;
  auto a = cast<RankedTensorType>(operands[0].getType());
  auto b = cast<RankedTensorType>(operands[1].getType());
  int64_t rank = a.getRank();
  if (rank < 2 || rank != b.getRank() ||
      a.getShape().drop_back(2) != b.getShape().drop_back(2))
    return emitOptionalError(location, "matmul of ", a, " and ", b,
                             ", expected the same rank of at least 2 and the "
                             "same leading dimensions");
  int64_t k = a.getDimSize(rank - (transposeA ? 2 : 1));
  if (k != b.getDimSize(rank - (transposeB ? 1 : 2)))
    return emitOptionalError(location, "matmul of ", a, " and ", b,
                             " contracts sizes ", k, " and ",
                             b.getDimSize(rank - (transposeB ? 1 : 2)));
  SmallVector<int64_t> shape(a.getShape().drop_back(2));
  shape.push_back(a.getDimSize(rank - (transposeA ? 1 : 2)));
  shape.push_back(b.getDimSize(rank - (transposeB ? 2 : 1)));
  types.push_back(RankedTensorType::get(shape, a.getElementType()));
  return success();
}

template <typename Op> static int64_t getProductFlops(Op op) {
  int64_t k = op.getLhs()
                  .getType()
                  .getShape()
                  .take_back(op.getTransposeLhs() ? 2 : 1)
                  .front();
  return 2 * op.getResult().getType().getNumElements() * k;
}

int64_t MatMulOp::getFlops() { return getProductFlops(*this); }

/// The shape of a product of two matrices of 16 bits.
template <typename Op>
static FailureOr<SmallVector<int64_t>> getMatrixShape(Op op) {
  RankedTensorType a = op.getLhs().getType(), b = op.getRhs().getType();
  bool ta = op.getTransposeLhs(), tb = op.getTransposeRhs();
  if (a.getRank() != 2 || b.getRank() != 2 ||
      a.getDimSize(ta ? 0 : 1) != b.getDimSize(tb ? 1 : 0))
    return op.emitOpError("is a product of ")
           << a << " and " << b
           << ", expected matrices whose contracted sizes agree";
  if (!isFloat16(a) || a.getElementType() != b.getElementType())
    return op.emitOpError("has elements of ")
           << a.getElementType() << " and " << b.getElementType()
           << ", expected both f16 or both bf16";
  return SmallVector<int64_t>{a.getDimSize(ta ? 1 : 0),
                              b.getDimSize(tb ? 0 : 1)};
}

LogicalResult MatMulEpilogueOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = getMatrixShape(*this);
  if (failed(shape))
    return failure();
  ArrayRef<int64_t> row = ArrayRef(*shape).drop_front();
  if (getOther().getType().getShape() !=
      (hasMatrix() ? ArrayRef<int64_t>(*shape) : row))
    return emitOpError("has ")
           << getOther().getType() << " beside a product of " << (*shape)[0]
           << " x " << (*shape)[1];
  if (getBias() &&
      (getEpilogue() != Epilogue::add || getBias().getType().getShape() != row))
    return emitOpError("has a bias ")
           << getBias().getType() << ", expected none, or of add a row of "
           << row.front();
  if (!llvm::all_of(getResultTypes(), [&](Type type) {
        return cast<RankedTensorType>(type).getShape() == ArrayRef(*shape);
      }))
    return emitOpError("has results of types ")
           << getResultTypes() << ", expected " << (*shape)[0] << " x "
           << (*shape)[1];
  if (getSum() && getEpilogue() != Epilogue::gelu)
    return emitOpError("has a second result, expected one only of gelu");
  if (int64_t columns = getLocalType(getResult().getType()).getDimSize(1);
      columns % 8 != 0)
    return emitOpError("has rows of ")
           << columns << " elements, expected a multiple of 8";
  return success();
}

LogicalResult MatMulBiasGradOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = getMatrixShape(*this);
  if (failed(shape))
    return failure();
  int64_t summed = (*shape)[getOfLhs() ? 0 : 1];
  RankedTensorType result = getResult().getType(), sums = getSums().getType();
  if (result.getShape() != ArrayRef(*shape) ||
      sums.getShape() != ArrayRef(summed) || !result.getElementType().isF32() ||
      !sums.getElementType().isF32())
    return emitOpError("has results of types ")
           << getResultTypes() << ", expected " << (*shape)[0] << " x "
           << (*shape)[1] << " and " << summed << " of f32";
  if (getOfLhs() ? !getTransposeLhs() : getTransposeRhs())
    return emitOpError("sums along rows, expected the sum of rows");
  return success();
}

int64_t MatMulBiasGradOp::getFlops() { return getProductFlops(*this); }
int64_t MatMulEpilogueOp::getFlops() { return getProductFlops(*this); }

/// Whether a table and its indices begin with `count` equal dimensions, and
/// the table goes on.
static bool haveBatchDims(ArrayRef<int64_t> table, ArrayRef<int64_t> indices,
                          int64_t count) {
  return count >= 0 && count < static_cast<int64_t>(table.size()) &&
         count <= static_cast<int64_t>(indices.size()) &&
         table.take_front(count) == indices.take_front(count);
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties properties,
                                         RegionRange,
                                         SmallVectorImpl<Type> &types) {
  auto table = cast<RankedTensorType>(operands[0].getType());
  auto indices = cast<RankedTensorType>(operands[1].getType());
  auto *given = properties.as<GatherOp::Properties *>();
  int64_t batchDims =
      given && given->batch_dims ? given->batch_dims.getInt() : 0;
  if (table.getRank() == 0)
    return emitOptionalError(location, "gather from a scalar");
  if (!haveBatchDims(table.getShape(), indices.getShape(), batchDims))
    return emitOptionalError(location, "gather from ", table, " by ", indices,
                             ", expected ", batchDims,
                             " equal batch dimensions of both, and one more of "
                             "the table");
  SmallVector<int64_t> shape(indices.getShape());
  llvm::append_range(shape, table.getShape().drop_front(batchDims + 1));
  types.push_back(RankedTensorType::get(shape, table.getElementType()));
  return success();
}

/// The first indices of the parts of a dimension; null if it is not in parts.
static LogicalResult verifyStarts(Operation *op, Value starts, Value indices,
                                  int64_t size, int64_t batchDims = 0) {
  if (!starts)
    return success();
  if (batchDims > 0)
    return op->emitOpError("has starts and ")
           << batchDims << " batch dimensions, expected none";
  auto type = cast<RankedTensorType>(starts.getType());
  if (type.getRank() == 1 &&
      type.getElementType() == getElementTypeOrSelf(indices) &&
      type.getDimSize(0) > 0 && size % type.getDimSize(0) == 0)
    return success();
  return op->emitOpError("starts are ")
         << type << ", expected rank 1, the element type of "
         << indices.getType() << ", and a number that divides " << size;
}

LogicalResult GatherOp::verify() {
  ArrayRef<int64_t> table = getTable().getType().getShape();
  if (table.empty()) // an error of the result's type, which comes next
    return success();
  return verifyStarts(*this, getStarts(), getIndices(), table.front(),
                      getBatchDims());
}

LogicalResult ScatterAddOp::verify() {
  ArrayRef<int64_t> table = getResult().getType().getShape();
  ArrayRef<int64_t> indices = getIndices().getType().getShape();
  auto batchDims = static_cast<int64_t>(getBatchDims());
  if (!haveBatchDims(table, indices, batchDims))
    return emitOpError("scatters into ")
           << getResult().getType() << " by " << getIndices().getType()
           << ", expected " << batchDims
           << " equal batch dimensions of both, and one more of the result";
  SmallVector<int64_t> expected(indices);
  llvm::append_range(expected, table.drop_front(batchDims + 1));
  if (!llvm::equal(expected, getUpdates().getType().getShape()))
    return emitOpError("updates are ")
           << getUpdates().getType() << ", expected the shape [" << expected
           << "] of the indices followed by a table row";
  return verifyStarts(*this, getStarts(), getIndices(), table.front(),
                      batchDims);
}

LogicalResult OneHotOp::verify() {
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  if (shape.empty() || shape.drop_back() != getIndices().getType().getShape())
    return emitOpError("result is ")
           << getResult().getType() << ", expected the shape of "
           << getIndices().getType() << " and one dimension more";
  return verifyStarts(*this, getStarts(), getIndices(), shape.back());
}
