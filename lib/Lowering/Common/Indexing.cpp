//===- Indexing.cpp - lowering of lookups ---------------------------------===//
//
// A gather reads its table at positions that are data. Its transpose,
// scatter_add, has no structured form, so the target lowers it. If a dimension
// is split, a rank holds one part of it.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

/// Two maps from the loops of `type`: to the element of the indices, whose
/// dimensions come first, and to the only element of the starts.
static AffineMap getIndexMap(StructuredBuilder &b, RankedTensorType type,
                             int64_t indexRank) {
  return AffineMap::get(type.getRank(), 0,
                        b.getMultiDimIdentityMap(type.getRank())
                            .getResults()
                            .take_front(indexRank),
                        b.getContext());
}
static AffineMap getStartMap(StructuredBuilder &b, RankedTensorType type) {
  return AffineMap::get(type.getRank(), 0, b.getAffineConstantExpr(0),
                        b.getContext());
}

namespace {

/// An index within the rank's part of a dimension, and whether it is inside.
struct LocalIndex {
  Value index, isHere;

  LocalIndex(StructuredBuilder &b, Value global, Value start, int64_t size) {
    Type type = global.getType();
    Value own = arith::SubIOp::create(b, global, start);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
    };
    Value zero = constant(0);
    isHere = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, own, zero),
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, own,
                              constant(size)));
    index = arith::SelectOp::create(b, isHere, own, zero);
  }
};

} // namespace

static SmallVector<Value> lowerGather(GatherOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getResult().getType();
  int64_t indexRank = op.getIndices().getType().getRank();
  auto batchDims = static_cast<int64_t>(op.getBatchDims());
  // The loops are the dimensions of the indices, batch dimensions first, then
  // the dimensions of a table row.
  SmallVector<Value> operands = {op.getIndices()};
  SmallVector<AffineMap> maps = {getIndexMap(b, type, indexRank)};
  if (op.getStarts()) {
    operands.push_back(op.getStarts());
    maps.push_back(getStartMap(b, type));
  }
  return {b.map(type, operands, maps,
                [&](StructuredBuilder &inner, ValueRange v) -> Value {
                  std::optional<LocalIndex> local;
                  if (op.getStarts())
                    local.emplace(inner, v[0], v[1],
                                  op.getTable().getType().getDimSize(0));
                  SmallVector<Value> position;
                  for (int64_t dim = 0; dim < batchDims; ++dim)
                    position.push_back(linalg::IndexOp::create(inner, dim));
                  position.push_back(
                      arith::IndexCastOp::create(inner, inner.getIndexType(),
                                                 local ? local->index : v[0]));
                  for (int64_t dim = indexRank; dim < type.getRank(); ++dim)
                    position.push_back(linalg::IndexOp::create(inner, dim));
                  Value element =
                      tensor::ExtractOp::create(inner, op.getTable(), position);
                  if (!local)
                    return element;
                  return arith::SelectOp::create(
                      inner, local->isHere, element,
                      inner.constant(type.getElementType(), 0.0));
                })};
}

/// Rows of other parts add zeros to the first row.
static SmallVector<Value> lowerScatterAdd(ScatterAddOp op,
                                          StructuredBuilder &b) {
  if (!op.getStarts())
    return {ScatterAddOp::create(b, op.getResult().getType(), op.getIndices(),
                                 op.getUpdates(), op.getBatchDims())};
  RankedTensorType indices = op.getIndices().getType();
  RankedTensorType updates = op.getUpdates().getType();
  int64_t size = op.getResult().getType().getDimSize(0);
  int64_t rank = indices.getRank();
  Value local = b.map(indices, {op.getIndices(), op.getStarts()},
                      {getIndexMap(b, indices, rank), getStartMap(b, indices)},
                      [&](StructuredBuilder &inner, ValueRange v) {
                        return LocalIndex(inner, v[0], v[1], size).index;
                      });
  Value masked =
      b.map(updates, {op.getUpdates(), op.getIndices(), op.getStarts()},
            {b.getMultiDimIdentityMap(updates.getRank()),
             getIndexMap(b, updates, rank), getStartMap(b, updates)},
            [&](StructuredBuilder &inner, ValueRange v) -> Value {
              return arith::SelectOp::create(
                  inner, LocalIndex(inner, v[1], v[2], size).isHere, v[0],
                  inner.constant(updates.getElementType(), 0.0));
            });
  return {ScatterAddOp::create(b, op.getResult().getType(), local, masked)};
}

static SmallVector<Value> lowerOneHot(OneHotOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getResult().getType();
  int64_t rank = type.getRank();
  SmallVector<Value> operands = {op.getIndices()};
  SmallVector<AffineMap> maps = {getIndexMap(b, type, rank - 1)};
  if (op.getStarts()) {
    operands.push_back(op.getStarts());
    maps.push_back(getStartMap(b, type));
  }
  return {b.map(type, operands, maps,
                [&](StructuredBuilder &inner, ValueRange v) -> Value {
                  Value index = v[0];
                  if (op.getStarts())
                    index = arith::SubIOp::create(inner, index, v[1]);
                  if (!index.getType().isInteger(32)) // as many lanes as f32
                    index = arith::TruncIOp::create(inner, inner.getI32Type(),
                                                    index);
                  Value column = arith::IndexCastOp::create(
                      inner, inner.getI32Type(),
                      linalg::IndexOp::create(inner, rank - 1));
                  return arith::CmpIOp::create(inner, arith::CmpIPredicate::eq,
                                               column, index);
                })};
}

void dtc::registerIndexingLowerings(MLIRContext *context) {
  attachLowering<GatherOp, lowerGather>(context);
  attachLowering<ScatterAddOp, lowerScatterAdd>(context);
  attachLowering<OneHotOp, lowerOneHot>(context);
}
