//===- InsertCollectives.cpp - turn reshards into collectives -------------===//
//
// One reshard becomes at most six steps: sum over micro-batches, reduce, move
// splits to other axes or dimensions, gather, slice. While the steps run, the
// pieces of a dimension form a dimension of their own.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Permutation.h"
#include "dtc/Parallel/Passes.h"
#include "dtc/Support/Axes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Rewrites one reshard, step by step, from its operand's layout to its own.
class Expansion {
public:
  /// Sums over ranks use the type `sumType`; null: the value's own type.
  Expansion(ReshardOp op, Type sumType)
      : op(op), builder(op), sumType(sumType), value(op.getX()),
        target(getLayout(op.getY().getType())) {}

  LogicalResult run() {
    Operation *before = op->getPrevNode();
    SmallVector<int64_t> shape(op.getX().getType().getShape());
    if (LayoutAttr between = takePiecesApart())
      return runBy(between, shape, before);
    if (failed(checkWorkers()) || failed(checkTime()))
      return failure();
    reducePartials();
    permuteShards();
    exchangeSplits();
    gatherSplits();
    sliceSplits();
    reshape(shape);
    replaceOp(before);
    return success();
  }

private:
  LayoutAttr current() { return getLayout(value.getType()); }
  Type typeWith(LayoutAttr layout) {
    return withLayout(value.getType(), layout);
  }

  /// Makes pieces of a dimension a dimension of their own where only one layout
  /// has pieces, or where the layouts differ in the other splits of the
  /// dimension. After that, no step has a layout with pieces. Returns null, or
  /// an intermediate layout if neither layout's pieces divide the other's.
  LayoutAttr takePiecesApart() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (int64_t dim : llvm::reverse(dims())) {
        if (current().getSplitsOfDim(dim) == target.getSplitsOfDim(dim))
          continue;
        int64_t pieces = countPieces(target, dim);
        if (pieces == 1)
          pieces = countPieces(current(), dim);
        if (pieces == 1)
          continue;
        SmallVector<int64_t> shape = takeApart(dim, pieces);
        FailureOr<LayoutAttr> apart = reshapeLayout(target, shape);
        if (failed(apart) || failed(reshapeLayout(current(), shape))) {
          if (LayoutAttr between = withoutRanks(current(), dim);
              between != current())
            return between;
          continue; // checkTime reports different micro-batches
        }
        target = *apart;
        reshape(shape);
        isChanged = true;
      }
    }
    return {};
  }

  /// The layout of a value without the splits of a dimension over ranks.
  static LayoutAttr withoutRanks(LayoutAttr layout, int64_t dim) {
    SmallVector<AxisLayout> entries;
    for (const AxisLayout &entry : layout.getEntries())
      if (!entry.isSplit() || entry.dim != dim ||
          entry.axis == MeshAttr::timeAxis)
        entries.push_back(entry);
    return LayoutAttr::getCanonical(layout.getMesh(), entries);
  }

  /// Rewrites the reshard as two via `between`. Their ops follow `before`.
  LogicalResult runBy(LayoutAttr between, ArrayRef<int64_t> shape,
                      Operation *before) {
    auto first =
        ReshardOp::create(builder, op.getLoc(), typeWith(between), value);
    auto second =
        ReshardOp::create(builder, op.getLoc(), typeWith(target), first.getY());
    value = second.getY();
    reshape(shape);
    replaceOp(before);
    return success(succeeded(Expansion(first, sumType).run()) &&
                   succeeded(Expansion(second, sumType).run()));
  }

  /// Replaces the reshard with the ops after `before`.
  void replaceOp(Operation *before) {
    // Mark the ops as per micro-batch: nothing else says so before a sum over
    // micro-batches.
    if (Attribute each = op->getAttr(attr::perMicrobatch))
      for (Operation *step = op->getPrevNode(); step != before;
           step = step->getPrevNode())
        step->setAttr(attr::perMicrobatch, each);
    op.getY().replaceAllUsesWith(value);
    op.erase();
  }

  /// Number of pieces of a dimension that its layout names or splits; 1 if it
  /// splits no pieces.
  static int64_t countPieces(LayoutAttr layout, int64_t dim) {
    int64_t count = 1;
    for (const AxisLayout &split : layout.getSplitsOfDim(dim)) {
      if (split.pieces > 1)
        return count * split.pieces;
      count *= layout.getMesh().getSize(split.axis.getValue());
    }
    return 1;
  }

  /// The value's shape with a dimension divided into pieces and their size.
  SmallVector<int64_t> takeApart(int64_t dim, int64_t pieces) {
    SmallVector<int64_t> shape(cast<ShapedType>(value.getType()).getShape());
    shape[dim] /= pieces;
    shape.insert(shape.begin() + dim, pieces);
    return shape;
  }

  /// The layout of a value of the current shape after a reshape.
  FailureOr<LayoutAttr> reshapeLayout(LayoutAttr layout,
                                      ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value));
    auto reshaped = ReshapeOp::create(builder, op.getLoc(), type, value);
    ShardingRule rule = reshaped.getShardingRule();
    reshaped.erase();
    std::string error;
    auto inferred = inferResultLayouts(rule, layout.getMesh(), {layout}, error);
    if (failed(inferred))
      return failure();
    return inferred->front();
  }

  /// Nothing gives positions of an axis values of their own, but dtc.own_row.
  LogicalResult checkWorkers() {
    for (const AxisLayout &entry : target.getEntries())
      if (entry.isEach() && !current().getEntry(entry.axis) &&
          target.getMesh().getSize(entry.axis.getValue()) > 1)
        return emitError(op.getLoc())
               << "needs random numbers of its own for each replica that "
                  "trains "
                  "apart, in a layout in which they cannot be drawn: "
               << target << "; use --sync step";
    return success();
  }

  LogicalResult checkTime() {
    std::optional<AxisLayout> from = current().getEntry(MeshAttr::timeAxis);
    std::optional<AxisLayout> to = target.getEntry(MeshAttr::timeAxis);
    bool isOne = target.getMesh().getSize(MeshAttr::timeAxis) == 1;
    bool isSum = from && from->isPartial() && from->reduction == Reduction::sum;
    bool isPartOfOne = from && from->isPartial() && isOne;
    if (from == to || (!to && (isSum || isPartOfOne)))
      return success();
    if (from && !to && isOne) {
      // With one micro-batch, its value is the sum over all micro-batches.
      SmallVector<AxisLayout> entries(
          current().without(MeshAttr::timeAxis).getEntries());
      entries.push_back(AxisLayout::partial(from->axis, Reduction::sum));
      value = AsPartialOp::create(
          builder, op.getLoc(),
          typeWith(LayoutAttr::getCanonical(target.getMesh(), entries)), value,
          builder.getStrArrayAttr(MeshAttr::timeAxis));
      return success();
    }
    InFlightDiagnostic diagnostic = emitError(op.getLoc());
    auto describe = [&](const AxisLayout &split) {
      diagnostic << "dimension " << split.dim << " of a ";
      llvm::interleave(
          cast<ShapedType>(value.getType()).getShape(),
          [&](int64_t size) { diagnostic << size; },
          [&] { diagnostic << "x"; });
      diagnostic << " value";
    };
    if (from) {
      diagnostic << "needs all samples of a batch at once, in ";
      if (from->isSplit())
        describe(*from);
      else
        diagnostic << (isSum ? "a sum over them" : "the maximum of them");
      diagnostic << ", but runs on one micro-batch at a time; use one "
                    "micro-batch, or export a model that processes each sample "
                    "separately";
    } else {
      diagnostic << "needs a row for each sample of a micro-batch, but has "
                    "those of the whole batch, in ";
      describe(*to);
      bool isSplit =
          llvm::any_of(target.getMesh().getAxes(), [](const MeshAxis &axis) {
            return axis.size > 1 && axis.name != MeshAttr::timeAxis &&
                   MeshAttr::isOfBatch(axis.name.getValue());
          });
      diagnostic << " that is no input and whose rows differ; use "
                 << (!isSplit ? "one micro-batch"
                     : isOne  ? "--dp 1"
                              : "--dp 1 and one micro-batch")
                 << "; if the file has a fixed batch, export with a dynamic "
                    "one and optimize=False";
    }
    return diagnostic;
  }

  void reducePartials() {
    if (current().isPartial(MeshAttr::timeAxis) &&
        !target.getEntry(MeshAttr::timeAxis))
      value = SumMicrobatchesOp::create(
          builder, op.getLoc(), typeWith(current().without(MeshAttr::timeAxis)),
          value);
    Type own = getElementTypeOrSelf(value);
    bool isNarrow = sumType && sumType != own && isReduced();
    if (isNarrow)
      convert(sumType);
    for (Reduction reduction : {Reduction::sum, Reduction::max}) {
      SmallVector<StringRef> whole;
      for (const AxisLayout &entry : current().getEntries()) {
        if (!entry.isPartial() || entry.reduction != reduction ||
            target.isPartial(entry.axis))
          continue;
        std::optional<AxisLayout> to = target.getEntry(entry.axis);
        if (to && to->isSplit() && to->pieces == 1)
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
    if (isNarrow)
      convert(own);
  }

  /// Whether the value is partial on an axis where the target is not.
  bool isReduced() {
    return llvm::any_of(current().getEntries(), [&](const AxisLayout &entry) {
      return entry.isPartial() && !target.isPartial(entry.axis);
    });
  }

  void convert(Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    value = CastOp::create(builder, op.getLoc(), type.clone(element), value);
  }

  /// Reduce-scatters on one axis. Applies if the axis is the minor split of its
  /// dimension; otherwise later steps slice it. First gathers other splits of
  /// the dimension that would leave incomplete shards.
  void scatter(const AxisLayout &entry) {
    int64_t dim = target.getEntry(entry.axis)->dim;
    int64_t ways =
        countShards(current().getSplitsOfDim(dim)) * countShards(entry);
    if (cast<ShapedType>(value.getType()).getDimSize(dim) % ways != 0)
      gather(names(surplus(dim)), dim);
    SmallVector<AxisLayout> entries(
        current().without(entry.axis.getValue()).getEntries());
    entries.push_back(AxisLayout::split(entry.axis, dim));
    value = ReduceScatterOp::create(
        builder, op.getLoc(),
        typeWith(LayoutAttr::getCanonical(target.getMesh(), entries)),
        entry.reduction, value, builder.getStrArrayAttr(entry.axis.getValue()),
        dim);
  }

  /// The splits of a dimension that the target lacks. `missing` returns those
  /// that only the target has.
  SmallVector<AxisLayout> surplus(int64_t dim) {
    SmallVector<AxisLayout> own = current().getSplitsOfDim(dim);
    size_t common = commonSplits(own, target.getSplitsOfDim(dim));
    return SmallVector<AxisLayout>(llvm::drop_begin(own, common));
  }
  SmallVector<AxisLayout> missing(int64_t dim) {
    SmallVector<AxisLayout> wanted = target.getSplitsOfDim(dim);
    size_t common = commonSplits(wanted, current().getSplitsOfDim(dim));
    return SmallVector<AxisLayout>(llvm::drop_begin(wanted, common));
  }

  /// Permutes shards where the target splits a dimension into as many shards by
  /// other axes, or by the same axes in another order.
  void permuteShards() {
    for (int64_t dim : dims()) {
      SmallVector<AxisLayout> from = surplus(dim), to = missing(dim);
      SmallVector<AxisLayout> entries(
          current().without(names(from)).getEntries());
      SmallVector<StringRef> axes = names(from);
      bool isFree = llvm::all_of(to, [&](const AxisLayout &split) {
        bool isOwn = llvm::is_contained(axes, split.axis.getValue());
        if (!isOwn)
          axes.push_back(split.axis.getValue());
        entries.push_back(split);
        return isOwn || !current().getEntry(split.axis);
      });
      if (!isFree || countShards(from) == 1)
        continue;
      auto layout = LayoutAttr::getCanonical(target.getMesh(), entries);
      SmallVector<int64_t> sources =
          findSources(current(), layout, axes, dims().size());
      if (!sources.empty())
        value = CollectivePermuteOp::create(
            builder, op.getLoc(), typeWith(layout), value,
            builder.getStrArrayAttr(axes), sources);
    }
  }

  void exchangeSplits() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (int64_t from : dims())
        for (int64_t to : dims())
          isChanged |= from != to && exchangeSplits(from, to);
    }
  }

  /// Moves minor splits of one dimension to the next splits of another by an
  /// all-to-all. This moves less data than a gather and a slice.
  bool exchangeSplits(int64_t from, int64_t to) {
    SmallVector<AxisLayout> left = surplus(from), wanted = missing(to);
    // No other split may be minor on either side.
    if (!surplus(to).empty())
      return false;
    size_t count = std::min(left.size(), wanted.size());
    auto agree = [](const AxisLayout &a, const AxisLayout &b) {
      return a.axis == b.axis;
    };
    while (count > 0 && !llvm::equal(ArrayRef(left).take_back(count),
                                     ArrayRef(wanted).take_front(count), agree))
      --count;
    ArrayRef<AxisLayout> moved = ArrayRef(wanted).take_front(count);
    if (countShards(moved) == 1)
      return false;
    SmallVector<AxisLayout> entries(
        current().without(names(moved)).getEntries());
    llvm::append_range(entries, moved);
    value = AllToAllOp::create(
        builder, op.getLoc(),
        typeWith(LayoutAttr::getCanonical(target.getMesh(), entries)), value,
        builder.getStrArrayAttr(names(moved)), from, to);
    return true;
  }

  int64_t countShards(ArrayRef<AxisLayout> splits) {
    int64_t shards = 1;
    for (const AxisLayout &split : splits)
      shards *= target.getMesh().getSize(split.axis.getValue());
    return shards;
  }

  /// Gathers, per dimension, the minor splits down to where both layouts agree.
  void gatherSplits() {
    for (int64_t dim : dims()) {
      SmallVector<StringRef> axes = names(surplus(dim));
      if (axes.empty())
        continue;
      gather(axes, dim);
      exchangeSplits(); // a removed split may have prevented this
    }
  }

  void gather(ArrayRef<StringRef> axes, int64_t dim) {
    value = AllGatherOp::create(builder, op.getLoc(),
                                typeWith(current().without(axes)), value,
                                builder.getStrArrayAttr(axes), dim);
  }

  void sliceSplits() {
    for (int64_t dim : dims()) {
      SmallVector<AxisLayout> added = missing(dim);
      if (added.empty())
        continue;
      SmallVector<AxisLayout> entries(current().getEntries());
      llvm::append_range(entries, added);
      value = LocalSliceOp::create(
          builder, op.getLoc(),
          typeWith(LayoutAttr::getCanonical(target.getMesh(), entries)), value,
          builder.getStrArrayAttr(names(added)), dim);
    }
  }

  void reshape(ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return;
    FailureOr<LayoutAttr> layout = reshapeLayout(current(), shape);
    assert(succeeded(layout) && "pieces divide the dimension");
    value = ReshapeOp::create(
        builder, op.getLoc(),
        withLayout(RankedTensorType::get(shape, type.getElementType()),
                   *layout),
        value);
  }

  llvm::iota_range<int64_t> dims() {
    return llvm::seq<int64_t>(0, cast<ShapedType>(value.getType()).getRank());
  }
  static size_t commonSplits(ArrayRef<AxisLayout> a, ArrayRef<AxisLayout> b) {
    size_t i = 0;
    while (i < a.size() && i < b.size() && a[i] == b[i])
      ++i;
    return i;
  }
  static SmallVector<StringRef> names(ArrayRef<AxisLayout> splits) {
    return llvm::map_to_vector(
        splits, [](const AxisLayout &entry) { return entry.axis.getValue(); });
  }

  ReshardOp op;
  OpBuilder builder;
  Type sumType;
  Value value;
  LayoutAttr target;
};

} // namespace

/// The reshards that lead from gradients to the optimizer's inputs.
static DenseSet<Operation *> findOfGradients(ModuleOp module) {
  DenseSet<Operation *> found;
  for (auto function : module.getOps<func::FuncOp>())
    for (OpOperand &returned :
         function.front().getTerminator()->getOpOperands()) {
      if (!function.getResultAttr(returned.getOperandNumber(), attr::gradient))
        continue;
      Value value = returned.get();
      while (auto reshard = value.getDefiningOp<ReshardOp>()) {
        found.insert(reshard);
        value = reshard.getX();
      }
    }
  return found;
}

namespace {

struct InsertCollectives
    : public dtc::impl::InsertCollectivesBase<InsertCollectives> {
  using InsertCollectivesBase::InsertCollectivesBase;

  void runOnOperation() override {
    Builder builder(&getContext());
    Type sumType = reduceDtype == "bf16"   ? Type(builder.getBF16Type())
                   : reduceDtype == "fp16" ? Type(builder.getF16Type())
                                           : Type();
    if (!sumType && reduceDtype != "fp32") {
      getOperation().emitError("--reduce-dtype is '")
          << reduceDtype << "', expected fp32, bf16 or fp16";
      return signalPassFailure();
    }
    DenseSet<Operation *> ofGradients = findOfGradients(getOperation());
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp op : reshards)
      if (failed(
              Expansion(op, ofGradients.contains(op) ? sumType : Type()).run()))
        return signalPassFailure();
  }
};

} // namespace
