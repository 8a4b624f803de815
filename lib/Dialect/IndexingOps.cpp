//===- IndexingOps.cpp - types and constraints of lookups -----------------===//
//
// Lookups in tables; a table may be split into parts.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Whether a table and its indices begin with `count` equal dimensions, and the
/// table has more.
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

/// Verifies the first indices of the parts of a dimension; null if it has no
/// parts.
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
  if (table.empty()) // type inference reports the error
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
