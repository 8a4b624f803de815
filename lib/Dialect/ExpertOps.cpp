//===- ExpertOps.cpp - types and constraints of grouped products ----------===//
//
// Verifies the constraints that the ops' documentation numbers.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// The dimension of a stack of weights that a product contracts.
static unsigned getContractedDim(bool isTransposed) {
  return isTransposed ? 2 : 1;
}

LogicalResult GroupedMatMulOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &types) {
  auto rows = cast<RankedTensorType>(operands[0].getType());
  auto weights = cast<RankedTensorType>(operands[1].getType());
  // Builders that set no flag pass no properties.
  auto *flags = properties.as<GroupedMatMulOp::Properties *>();
  unsigned inner = getContractedDim(flags && flags->transpose_weights);
  if (rows.getRank() != 2 || weights.getRank() != 3 ||
      rows.getDimSize(1) != weights.getDimSize(inner))
    return emitOptionalError(location, "grouped_matmul of rows ", rows,
                             " and weights ", weights,
                             ", expected a matrix and a stack of matrices "
                             "whose contracted sizes agree");
  types.push_back(
      RankedTensorType::get({rows.getDimSize(0), weights.getDimSize(3 - inner)},
                            rows.getElementType()));
  return success();
}

LogicalResult GroupedMatMulOp::verify() {
  RankedTensorType rows = getRows().getType(), indices = getIndices().getType();
  if (rows.getElementType() != getWeights().getType().getElementType())
    return emitOpError("has rows ")
           << rows << " and weights " << getWeights().getType()
           << ", expected one element type";
  if (rows.getRank() == 2 && indices.getShape() != rows.getShape().take_front())
    return emitOpError("has indices ")
           << indices << ", expected one for each row of " << rows;
  return success();
}

int64_t GroupedMatMulOp::getFlops() {
  return 2 * getRows().getType().getNumElements() *
         getResult().getType().getDimSize(1);
}

LogicalResult GroupedOuterOp::verify() {
  RankedTensorType a = getLhs().getType(), b = getRhs().getType();
  RankedTensorType indices = getIndices().getType();
  RankedTensorType result = getResult().getType();
  if (a.getElementType() != b.getElementType())
    return emitOpError("has rows ")
           << a << " and " << b << ", expected one element type";
  if (a.getRank() != 2 || b.getRank() != 2 ||
      indices.getShape() != a.getShape().take_front() ||
      indices.getShape() != b.getShape().take_front())
    return emitOpError("has rows ")
           << a << " and " << b << " by indices " << indices
           << ", expected two matrices with a row for each index";
  if (result.getRank() != 3 || result.getDimSize(1) != a.getDimSize(1) ||
      result.getDimSize(2) != b.getDimSize(1))
    return emitOpError("makes ")
           << result << " of rows " << a << " and " << b
           << ", expected a stack of matrices of the rows' sizes";
  return success();
}

int64_t GroupedOuterOp::getFlops() {
  return 2 * getLhs().getType().getNumElements() *
         getRhs().getType().getDimSize(1);
}
