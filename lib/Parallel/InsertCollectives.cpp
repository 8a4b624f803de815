//===- InsertCollectives.cpp - reshards become collectives ----------------===//
//
// One reshard becomes at most four steps: sum over micro-batches, reduce,
// gather, slice.
//
//===----------------------------------------------------------------------===//

#include "dtc/Parallel/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Rewrites one reshard, step by step from its operand's layout to its own.
class Expansion {
public:
  explicit Expansion(ReshardOp op)
      : op(op), builder(op), value(op.getX()),
        target(getLayout(op.getY().getType())) {}

  LogicalResult run() {
    if (failed(checkTime()))
      return failure();
    Operation *before = op->getPrevNode();
    reducePartials();
    gatherSplits();
    sliceSplits();
    // Left of a sum over micro-batches: nothing else tells when they run.
    if (Attribute each = op->getAttr(attr::perMicrobatch))
      for (Operation *step = op->getPrevNode(); step != before;
           step = step->getPrevNode())
        step->setAttr(attr::perMicrobatch, each);
    op.getY().replaceAllUsesWith(value);
    op.erase();
    return success();
  }

private:
  LayoutAttr current() { return getLayout(value.getType()); }
  Type typeWith(LayoutAttr layout) {
    return withLayout(value.getType(), layout);
  }

  LogicalResult checkTime() {
    std::optional<AxisLayout> from = current().getEntry(MeshAttr::timeAxis);
    std::optional<AxisLayout> to = target.getEntry(MeshAttr::timeAxis);
    if (from == to || (from && from->isPartial() && !to))
      return success();
    InFlightDiagnostic diagnostic = emitError(
        op.getLoc(), "needs all samples of a batch at once, which dtc divides "
                     "into micro-batches: expected a model that treats samples "
                     "apart, with the batch as first dimension of every value");
    diagnostic.attachNote()
        << "the layout would change from " << current() << " to " << target;
    return diagnostic;
  }

  void reducePartials() {
    if (current().isPartial(MeshAttr::timeAxis) &&
        !target.getEntry(MeshAttr::timeAxis))
      value = SumMicrobatchesOp::create(
          builder, op.getLoc(), typeWith(current().without(MeshAttr::timeAxis)),
          value);
    for (Reduction reduction : {Reduction::sum, Reduction::max}) {
      SmallVector<StringRef> whole;
      for (const AxisLayout &entry : current().getEntries()) {
        if (!entry.isPartial() || entry.reduction != reduction ||
            target.isPartial(entry.axis))
          continue;
        if (target.isSplit(entry.axis))
          scatter(entry);
        else
          whole.push_back(entry.axis.getValue());
      }
      if (!whole.empty())
        value = AllReduceOp::create(
                    builder, op.getLoc(), typeWith(current().without(whole)),
                    reduction, value, builder.getStrArrayAttr(whole))
                    .getResult(0);
    }
  }

  /// Partial to split on one axis; possible where the axis is the minor split
  /// of its dimension, else the later steps slice it.
  void scatter(const AxisLayout &entry) {
    int64_t dim = target.getEntry(entry.axis)->dim;
    SmallVector<AxisLayout> entries(
        current().without(entry.axis.getValue()).getEntries());
    entries.push_back(AxisLayout::split(entry.axis, dim));
    value = ReduceScatterOp::create(
        builder, op.getLoc(),
        typeWith(LayoutAttr::getCanonical(target.getMesh(), entries)),
        entry.reduction, value, builder.getStrArrayAttr(entry.axis.getValue()),
        dim);
  }

  /// Gathers, per dimension, the minor splits down to where both layouts agree.
  void gatherSplits() {
    for (int64_t dim : dims()) {
      SmallVector<StringAttr> from = current().getAxesOfDim(dim);
      size_t common = commonSplits(from, target.getAxesOfDim(dim));
      if (common == from.size())
        continue;
      SmallVector<StringRef> axes = names(ArrayRef(from).drop_front(common));
      value = AllGatherOp::create(builder, op.getLoc(),
                                  typeWith(current().without(axes)), value,
                                  builder.getStrArrayAttr(axes), dim);
    }
  }

  void sliceSplits() {
    for (int64_t dim : dims()) {
      SmallVector<StringAttr> to = target.getAxesOfDim(dim);
      ArrayRef<StringAttr> added =
          ArrayRef(to).drop_front(current().getAxesOfDim(dim).size());
      if (added.empty())
        continue;
      SmallVector<AxisLayout> entries(current().getEntries());
      for (StringAttr axis : added)
        entries.push_back(AxisLayout::split(axis, dim));
      value = LocalSliceOp::create(
          builder, op.getLoc(),
          typeWith(LayoutAttr::getCanonical(target.getMesh(), entries)), value,
          builder.getStrArrayAttr(names(added)), dim);
    }
  }

  llvm::iota_range<int64_t> dims() {
    return llvm::seq<int64_t>(0, cast<ShapedType>(value.getType()).getRank());
  }
  static size_t commonSplits(ArrayRef<StringAttr> a, ArrayRef<StringAttr> b) {
    size_t i = 0;
    while (i < a.size() && i < b.size() && a[i] == b[i])
      ++i;
    return i;
  }
  static SmallVector<StringRef> names(ArrayRef<StringAttr> axes) {
    return llvm::map_to_vector(axes, [](StringAttr a) { return a.getValue(); });
  }

  ReshardOp op;
  OpBuilder builder;
  Value value;
  LayoutAttr target;
};

struct InsertCollectives
    : public dtc::impl::InsertCollectivesBase<InsertCollectives> {
  void runOnOperation() override {
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp op : reshards)
      if (failed(Expansion(op).run()))
        return signalPassFailure();
  }
};

} // namespace
