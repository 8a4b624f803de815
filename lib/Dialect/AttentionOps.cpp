//===- AttentionOps.cpp - types and constraints of attention --------------===//
//
// The constraints that the ops' docs number.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType getPlainType(Value value) {
  return cast<RankedTensorType>(withLayout(value.getType(), {}));
}

static AttentionSizes makeSizes(Value queries, Value keys, Value values) {
  ArrayRef<int64_t> q = getLocalType(queries.getType()).getShape();
  ArrayRef<int64_t> k = getLocalType(keys.getType()).getShape();
  ArrayRef<int64_t> v = getLocalType(values.getType()).getShape();
  return {q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
}

AttentionSizes AttentionOp::getSizes() {
  return makeSizes(getQueries(), getKeys(), getValues());
}
AttentionSizes AttentionGradOp::getSizes() {
  return makeSizes(getQueries(), getKeys(), getValues());
}

template <typename OpTy> static LogicalResult verifyOperands(OpTy op) {
  ArrayRef<int64_t> q = getPlainType(op.getQueries()).getShape();
  ArrayRef<int64_t> k = getPlainType(op.getKeys()).getShape();
  ArrayRef<int64_t> v = getPlainType(op.getValues()).getShape();
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
  ArrayRef<int64_t> mask = getPlainType(op.getMask()).getShape();
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
  auto expected = llvm::to_vector(getPlainType(getQueries()).getShape());
  expected.back() = getPlainType(getValues()).getShape().back();
  for (Value value : {getResult(), getDresult()})
    if (getPlainType(value).getShape() != ArrayRef(expected))
      return emitOpError("has a result or its gradient ")
             << value.getType() << ", expected shape [" << expected << "]";
  const int64_t rows[] = {expected[0], expected[2], expected[1]};
  if (getPlainType(getLse()).getShape() != ArrayRef(rows))
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
    return failure(); // the verifier says why
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

/// Of the products with keys and with values, as the field counts model FLOPs
/// (Chowdhery et al., arXiv 2204.02311, appendix B): all scores, hidden ones
/// included, and none twice.
template <typename OpTy> static int64_t countFlops(OpTy op) {
  ArrayRef<int64_t> q = getPlainType(op.getQueries()).getShape();
  ArrayRef<int64_t> v = getPlainType(op.getValues()).getShape();
  return 2 * q[0] * q[2] * q[1] * v[1] * (q[3] + v[3]);
}

int64_t AttentionOp::getFlops() { return countFlops(*this); }

/// By both factors of both products.
int64_t AttentionGradOp::getFlops() { return 2 * countFlops(*this); }
