//===- AttentionOps.cpp - types and constraints of attention --------------===//
//
// Verifies the constraints that the ops' documentation numbers.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType getPlainType(Value value) {
  return cast<RankedTensorType>(withLayout(value.getType(), {}));
}

static ArrayRef<int64_t> getShape(Value value) {
  return getPlainType(value).getShape();
}
static ArrayRef<int64_t> getLocalShape(Value value) {
  return getLocalType(value.getType()).getShape();
}
using ShapeOf = function_ref<ArrayRef<int64_t>(Value)>;

template <typename OpTy>
static AttentionSizes makeSizes(OpTy op, ShapeOf shapeOf) {
  ArrayRef<int64_t> q = shapeOf(op.getQueries());
  ArrayRef<int64_t> k = shapeOf(op.getKeys());
  ArrayRef<int64_t> v = shapeOf(op.getValues());
  return {q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
}

AttentionSizes AttentionOp::getSizes() {
  return makeSizes(*this, getLocalShape);
}
AttentionSizes AttentionGradOp::getSizes() {
  return makeSizes(*this, getLocalShape);
}

template <typename OpTy> static LogicalResult verifyOperands(OpTy op) {
  ArrayRef<int64_t> q = getShape(op.getQueries());
  ArrayRef<int64_t> k = getShape(op.getKeys());
  ArrayRef<int64_t> v = getShape(op.getValues());
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || q[0] != k[0] ||
      k.take_front(3) != v.take_front(3) || q[3] != k[3])
    return op.emitOpError("has queries ")
           << op.getQueries().getType() << ", keys " << op.getKeys().getType()
           << " and values " << op.getValues().getType()
           << ", expected [batch, queries, heads, width] and twice [batch, "
              "keys, groups, width]";
  if (k[2] == 0 || q[2] % k[2])
    return op.emitOpError("has ") << q[2] << " heads and " << k[2]
                                  << " groups, expected a multiple of these";
  if (op.getCausal() && q[1] != k[1])
    return op.emitOpError("is causal with ")
           << q[1] << " queries and " << k[1] << " keys, expected as many";
  if (!op.getMask())
    return success();
  if (getElementTypeOrSelf(op.getMask()) !=
      getElementTypeOrSelf(op.getQueries()))
    return op.emitOpError("has a mask ")
           << op.getMask().getType() << ", expected the element type of "
           << op.getQueries().getType();
  ArrayRef<int64_t> mask = getShape(op.getMask());
  const int64_t scores[] = {q[0], q[2], q[1], k[1]};
  bool fits = mask.size() == 4 && mask[3] == scores[3];
  for (int64_t dim = 0; fits && dim < 3; ++dim)
    fits = mask[dim] == 1 || mask[dim] == scores[dim];
  if (!fits)
    return op.emitOpError("has a mask ")
           << op.getMask().getType() << ", expected one that broadcasts to ["
           << scores << "]";
  return success();
}

LogicalResult AttentionOp::verify() { return verifyOperands(*this); }

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  auto expected = llvm::to_vector(getShape(getQueries()));
  expected.back() = getShape(getValues()).back();
  for (Value value : {getResult(), getDresult()})
    if (getShape(value) != ArrayRef(expected))
      return emitOpError("has a result or its gradient ")
             << value.getType() << ", expected shape [" << expected << "]";
  const int64_t rows[] = {expected[0], expected[2], expected[1]};
  if (getShape(getLse()) != ArrayRef(rows))
    return emitOpError("has lse ")
           << getLse().getType() << ", expected shape [" << rows << "]";
  return success();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType q = getPlainType(operands[0]), v = getPlainType(operands[2]);
  if (q.getRank() != 4 || v.getRank() != 4)
    return failure(); // the verifier reports the error
  ArrayRef<int64_t> shape = q.getShape();
  types.push_back(q.clone({shape[0], shape[1], shape[2], v.getShape().back()}));
  types.push_back(RankedTensorType::get({shape[0], shape[2], shape[1]},
                                        getComputeType(q.getElementType())));
  return success();
}

LogicalResult AttentionGradOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  for (Value operand : operands.take_front(3))
    types.push_back(getPlainType(operand));
  return success();
}

//===----------------------------------------------------------------------===//
// Packed
//===----------------------------------------------------------------------===//

/// The index of the heads' dimension in a packed tensor.
static int64_t getHeadsDim(bool isByHead) { return isByHead ? 2 : 3; }

/// The shapes of the result and lse of attention on a packed tensor.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
getPackedResults(ArrayRef<int64_t> packed, bool isByHead) {
  int64_t heads = packed[getHeadsDim(isByHead)];
  return {{packed[0], packed[1], heads, packed[4]},
          {packed[0], heads, packed[1]}};
}

template <typename OpTy>
static AttentionSizes makePackedSizes(OpTy op, ShapeOf shapeOf) {
  ArrayRef<int64_t> packed = shapeOf(op.getPacked());
  int64_t heads = packed[getHeadsDim(op.getByHead())];
  return {packed[0], packed[1], packed[1], heads, heads, packed[4], packed[4]};
}

AttentionSizes PackedAttentionOp::getSizes() {
  return makePackedSizes(*this, getLocalShape);
}
AttentionSizes PackedAttentionGradOp::getSizes() {
  return makePackedSizes(*this, getLocalShape);
}

template <typename OpTy> static LogicalResult verifyPacked(OpTy op) {
  ArrayRef<int64_t> shape = op.getPacked().getType().getShape();
  int64_t partsDim = op.getByHead() ? 3 : 2;
  if (shape.size() == 5 && shape[partsDim] == 3)
    return success();
  return op.emitOpError("has ")
         << op.getPacked().getType()
         << ", expected rank 5 and 3 parts in dimension " << partsDim;
}

LogicalResult PackedAttentionOp::verify() { return verifyPacked(*this); }

LogicalResult PackedAttentionGradOp::verify() {
  if (failed(verifyPacked(*this)))
    return failure();
  auto [result, rows] =
      getPackedResults(getPacked().getType().getShape(), getByHead());
  for (Value value : {getResult(), getDresult()})
    if (getShape(value) != ArrayRef(result))
      return emitOpError("has a result or its gradient ")
             << value.getType() << ", expected shape [" << result << "]";
  if (getShape(getLse()) != ArrayRef(rows))
    return emitOpError("has lse ")
           << getLse().getType() << ", expected shape [" << rows << "]";
  return success();
}

LogicalResult PackedAttentionOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType packed = getPlainType(adaptor.getPacked());
  if (packed.getRank() != 5)
    return failure(); // the verifier reports the error
  auto [result, rows] =
      getPackedResults(packed.getShape(), adaptor.getByHead());
  types.push_back(packed.clone(result));
  types.push_back(
      RankedTensorType::get(rows, getComputeType(packed.getElementType())));
  return success();
}

LogicalResult PackedAttentionGradOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  types.push_back(getPlainType(operands.front()));
  return success();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// FLOPs of the matmuls with keys and with values, by the convention for model
/// FLOPs (Chowdhery et al., arXiv 2204.02311, appendix B): all scores count,
/// also masked ones, and recomputation does not.
static int64_t countFlops(const AttentionSizes &s) {
  return 2 * s.batch * s.heads * s.queries * s.keys * (s.width + s.valueWidth);
}

int64_t AttentionOp::getFlops() {
  return countFlops(makeSizes(*this, getShape));
}
int64_t PackedAttentionOp::getFlops() {
  return countFlops(makePackedSizes(*this, getShape));
}

/// The gradients of both matmuls by both operands.
int64_t AttentionGradOp::getFlops() {
  return 2 * countFlops(makeSizes(*this, getShape));
}
int64_t PackedAttentionGradOp::getFlops() {
  return 2 * countFlops(makePackedSizes(*this, getShape));
}
