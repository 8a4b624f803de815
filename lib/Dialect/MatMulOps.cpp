//===- MatMulOps.cpp - types and constraints of matmuls -------------------===//
//
// Plain matmuls, matmuls with an epilogue, and matmuls that sum an operand's
// rows.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

LogicalResult MatMulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties properties,
                                         RegionRange,
                                         SmallVectorImpl<Type> &types) {
  // Builders that set no flag pass no properties.
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

/// The shape of a matmul of two matrices of 16 bits.
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
