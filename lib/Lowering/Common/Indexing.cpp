//===- Indexing.cpp - lowering of lookups ---------------------------------===//
//
// A gather reads its table at positions that are data. Its transpose,
// scatter_add, has no structured form and is left to the target.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

static SmallVector<Value> lowerGather(GatherOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getResult().getType();
  unsigned indexRank = op.getIndices().getType().getRank();
  // Loops are the dimensions of the indices, then those of a table row.
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  map = map.getMajorSubMap(indexRank);
  if (indexRank == 0)
    map = AffineMap::get(type.getRank(), 0, b.getContext());
  return {b.map(type, op.getIndices(), map,
                [&](StructuredBuilder &inner, ValueRange v) -> Value {
                  SmallVector<Value> position = {arith::IndexCastOp::create(
                      inner, inner.getIndexType(), v[0])};
                  for (int64_t dim = indexRank; dim < type.getRank(); ++dim)
                    position.push_back(linalg::IndexOp::create(inner, dim));
                  return tensor::ExtractOp::create(inner, op.getTable(),
                                                   position);
                })};
}

void dtc::registerIndexingLowerings(MLIRContext *context) {
  attachLowering<GatherOp, lowerGather>(context);
}
