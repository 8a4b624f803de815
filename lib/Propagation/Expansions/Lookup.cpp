//===- Lookup.cpp - lookups in a split table ------------------------------===//
//
// Each part looks up the indices that it owns and yields zeros for the others;
// the sum over parts is the result (Megatron-LM, arXiv 1909.08053, section 3).
// A scatter_add into parts, and a one_hot, keep the part of each row that they
// own.
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"

using namespace mlir;
using namespace dtc;

namespace {

struct GatherExpansion
    : SplitExpansionInterface::ExternalModel<GatherExpansion, GatherOp> {
  std::optional<int64_t> getSplittableDim(Operation *op,
                                          unsigned operand) const {
    auto gather = cast<GatherOp>(op);
    // Constant indices are not a vocabulary: every rank needs all the rows. A
    // table with one part for each sample is not, either.
    if (operand == 0 && !gather.getStarts() && gather.getBatchDims() == 0 &&
        !gather.getIndices().getDefiningOp<ConstantOp>())
      return 0;
    return std::nullopt;
  }
  std::optional<int64_t> getSplittableResultDim(Operation *) const {
    return std::nullopt;
  }
  SmallVector<Value> expandSplit(Operation *op, OpBuilder &builder,
                                 Value starts) const {
    auto gather = cast<GatherOp>(op);
    starts = castStarts(builder, op->getLoc(), starts, gather.getIndices());
    return {GatherOp::create(builder, op->getLoc(), gather.getTable(),
                             gather.getIndices(), starts, /*batch_dims=*/0)};
  }
};

struct ScatterAddExpansion
    : SplitExpansionInterface::ExternalModel<ScatterAddExpansion,
                                             ScatterAddOp> {
  std::optional<int64_t> getSplittableDim(Operation *, unsigned) const {
    return std::nullopt;
  }
  std::optional<int64_t> getSplittableResultDim(Operation *op) const {
    auto scatter = cast<ScatterAddOp>(op);
    if (scatter.getStarts() || scatter.getBatchDims() > 0)
      return std::nullopt;
    return 0;
  }
  SmallVector<Value> expandSplit(Operation *op, OpBuilder &builder,
                                 Value starts) const {
    auto scatter = cast<ScatterAddOp>(op);
    starts = castStarts(builder, op->getLoc(), starts, scatter.getIndices());
    return {ScatterAddOp::create(
        builder, op->getLoc(), withLayout(scatter.getResult().getType(), {}),
        scatter.getIndices(), scatter.getUpdates(), starts, /*batch_dims=*/0)};
  }
};

struct OneHotExpansion
    : SplitExpansionInterface::ExternalModel<OneHotExpansion, OneHotOp> {
  std::optional<int64_t> getSplittableDim(Operation *, unsigned) const {
    return std::nullopt;
  }
  std::optional<int64_t> getSplittableResultDim(Operation *op) const {
    auto oneHot = cast<OneHotOp>(op);
    if (oneHot.getStarts())
      return std::nullopt;
    return oneHot.getResult().getType().getRank() - 1;
  }
  SmallVector<Value> expandSplit(Operation *op, OpBuilder &builder,
                                 Value starts) const {
    auto oneHot = cast<OneHotOp>(op);
    starts = castStarts(builder, op->getLoc(), starts, oneHot.getIndices());
    return {OneHotOp::create(builder, op->getLoc(),
                             withLayout(oneHot.getResult().getType(), {}),
                             oneHot.getIndices(), starts)};
  }
};

} // namespace

void dtc::registerLookupExpansions(MLIRContext *context) {
  GatherOp::attachInterface<GatherExpansion>(*context);
  ScatterAddOp::attachInterface<ScatterAddExpansion>(*context);
  OneHotOp::attachInterface<OneHotExpansion>(*context);
}
