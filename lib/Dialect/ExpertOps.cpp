//===- ExpertOps.cpp - types and constraints of grouped products ----------===//
//
// Verifies the constraints of the ops' documentation.
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

//===----------------------------------------------------------------------===//
// Experts on other ranks
//===----------------------------------------------------------------------===//

/// Verifies slots [experts, groups, capacity, width] of rows.
static LogicalResult verifySlots(Operation *op, RankedTensorType slots,
                                 RankedTensorType rows,
                                 RankedTensorType indices) {
  if (rows.getRank() != 2 || indices.getShape() != rows.getShape().take_front())
    return op->emitOpError("has rows ")
           << rows << " and indices " << indices
           << ", expected a matrix and an index for each of its rows";
  if (slots.getRank() != 4 || slots.getDimSize(3) != rows.getDimSize(1) ||
      slots.getDimSize(1) < 1 || rows.getDimSize(0) % slots.getDimSize(1) ||
      slots.getElementType() != rows.getElementType())
    return op->emitOpError("has slots ")
           << slots << " of rows " << rows
           << ", expected [experts, groups, capacity, width] of their type, "
              "where groups divide the rows";
  return success();
}

LogicalResult DispatchOp::verify() {
  return verifySlots(*this, getSlots().getType(), getRows().getType(),
                     getIndices().getType());
}

LogicalResult CombineOp::verify() {
  return verifySlots(*this, getSlots().getType(), getRows().getType(),
                     getIndices().getType());
}

LogicalResult CountRowsOp::verify() {
  RankedTensorType indices = getIndices().getType();
  RankedTensorType counts = getCounts().getType();
  auto capacity = static_cast<int64_t>(getCapacity());
  if (indices.getRank() != 1 || counts.getRank() != 2 ||
      counts.getDimSize(1) < 1 ||
      indices.getDimSize(0) % counts.getDimSize(1) || capacity < 1)
    return emitOpError("counts ")
           << indices << " in " << counts << " up to " << capacity
           << ", expected [experts, groups], where groups divide the rows, and "
              "a capacity of 1 or more";
  return success();
}

/// Whether counts are [experts, groups] of slots.
static bool areCountsOf(RankedTensorType counts, RankedTensorType slots) {
  return counts.getShape() == slots.getShape().take_front(2);
}

LogicalResult ExpertMatMulOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &types) {
  auto slots = cast<RankedTensorType>(operands[0].getType());
  auto weights = cast<RankedTensorType>(operands[1].getType());
  auto *given = properties.as<ExpertMatMulOp::Properties *>();
  unsigned inner = getContractedDim(given && given->transpose_weights);
  if (slots.getRank() != 4 || weights.getRank() != 3 ||
      slots.getDimSize(0) != weights.getDimSize(0) ||
      slots.getDimSize(3) != weights.getDimSize(inner))
    return emitOptionalError(location, "expert_matmul of slots ", slots,
                             " and weights ", weights,
                             ", expected [experts, groups, capacity, width] "
                             "and a matrix for each expert whose contracted "
                             "size is the width");
  SmallVector<int64_t> shape(slots.getShape());
  shape.back() = weights.getDimSize(3 - inner);
  types.push_back(RankedTensorType::get(shape, slots.getElementType()));
  return success();
}

LogicalResult ExpertMatMulOp::verify() {
  RankedTensorType slots = getSlots().getType();
  if (slots.getElementType() != getWeights().getType().getElementType())
    return emitOpError("has slots ")
           << slots << " and weights " << getWeights().getType()
           << ", expected one element type";
  if (slots.getRank() == 4 && !areCountsOf(getCounts().getType(), slots))
    return emitOpError("has counts ")
           << getCounts().getType() << ", expected one for each expert and "
           << "group of " << slots;
  return success();
}

/// FLOPs of the rows of all groups, each times a matrix.
static int64_t countFlops(RankedTensorType slots, int64_t groupRows,
                          RankedTensorType matrices) {
  return 2 * groupRows * slots.getDimSize(1) * matrices.getDimSize(1) *
         matrices.getDimSize(2);
}

int64_t ExpertMatMulOp::getFlops() {
  return countFlops(getSlots().getType(), getGroupRows(),
                    getWeights().getType());
}

LogicalResult ExpertOuterOp::verify() {
  RankedTensorType a = getLhs().getType(), b = getRhs().getType();
  RankedTensorType result = getResult().getType();
  if (a.getElementType() != b.getElementType())
    return emitOpError("has slots ")
           << a << " and " << b << ", expected one element type";
  if (a.getRank() != 4 || b.getRank() != 4 ||
      a.getShape().take_front(3) != b.getShape().take_front(3) ||
      !areCountsOf(getCounts().getType(), a))
    return emitOpError("has slots ")
           << a << " and " << b << " by counts " << getCounts().getType()
           << ", expected the same slots and a count for each expert and group";
  const int64_t expected[] = {a.getDimSize(0), a.getDimSize(3),
                              b.getDimSize(3)};
  if (result.getShape() != ArrayRef(expected))
    return emitOpError("makes ")
           << result << " of slots " << a << " and " << b
           << ", expected a matrix of their widths for each expert";
  return success();
}

int64_t ExpertOuterOp::getFlops() {
  return countFlops(getLhs().getType(), getGroupRows(), getResult().getType());
}
