//===- RepeatedValues.cpp - values made in parts --------------------------===//
//
// A value that has rows for all micro-batches or ranks, but repeats from one to
// the next, is made for one of them.
//
//===----------------------------------------------------------------------===//

#include "dtc/Propagation/Propagation.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <numeric>

using namespace mlir;
using namespace dtc;

/// The layout of a repetition's operand, with the axes reduced on which
/// `layout` is not partial.
LayoutAttr Propagation::getRepeated(BroadcastOp repeat,
                                    LayoutAttr layout) const {
  SmallVector<AxisLayout> entries;
  for (const AxisLayout &entry :
       getLayout(repeat.getX().getType()).getEntries())
    if (!entry.isPartial() || layout.isPartial(entry.axis))
      entries.push_back(entry);
  return LayoutAttr::getCanonical(mesh, entries);
}

/// Whether a value repeats another, whose terms may have been summed before,
/// and can be made in the layout.
bool Propagation::canRepeat(Value value, LayoutAttr layout) {
  auto repeat = value.getDefiningOp<BroadcastOp>();
  if (!repeat)
    return false;
  std::string error;
  auto inferred =
      inferResultLayouts(repeat.getShardingRule(), mesh,
                         {getRepeated(repeat, layout)}, error, {layout});
  return succeeded(inferred) && inferred->front() == layout;
}

/// Whether axes of the batch split the value in `layout` but not yet in its
/// own.
bool Propagation::isCutByBatch(Value value, LayoutAttr layout) const {
  LayoutAttr own = getLayout(value.getType());
  return llvm::any_of(layout.getEntries(), [&](const AxisLayout &entry) {
    StringRef axis = entry.axis.getValue();
    bool isPart = axis == MeshAttr::timeAxis || mesh.getSize(axis) > 1;
    return entry.hasDim() && MeshAttr::isOfBatch(axis) && isPart &&
           !own.getEntry(entry.axis);
  });
}

/// The layout `own`, with the splits by batch axes of `layout`.
LayoutAttr Propagation::cutByBatch(LayoutAttr own, LayoutAttr layout) const {
  SmallVector<AxisLayout> entries(own.getEntries());
  for (const AxisLayout &entry : layout.getEntries())
    if (entry.hasDim() && MeshAttr::isOfBatch(entry.axis.getValue()) &&
        !own.getEntry(entry.axis))
      entries.push_back(entry);
  return LayoutAttr::getCanonical(mesh, entries);
}

/// The entry of batch axes that split a value; none if they split several
/// places.
static std::optional<AxisLayout> findBatch(LayoutAttr layout) {
  std::optional<AxisLayout> batch;
  for (const AxisLayout &entry : layout.getEntries()) {
    if (!entry.isSplit() || !entry.hasDim() ||
        !MeshAttr::isOfBatch(entry.axis.getValue()))
      continue;
    if (batch && (batch->dim != entry.dim || batch->pieces != entry.pieces))
      return std::nullopt;
    batch = entry;
  }
  return batch;
}

/// Length in rows of the shortest prefix whose repetition gives `bytes`. Each
/// row has `rowBytes` bytes.
static int64_t findPeriod(ArrayRef<char> bytes, int64_t rowBytes) {
  int64_t rows = bytes.size() / rowBytes;
  for (int64_t period : llvm::seq<int64_t>(1, rows))
    if (rows % period == 0 && bytes.drop_front(period * rowBytes) ==
                                  bytes.drop_back(period * rowBytes))
      return period;
  return rows;
}

/// Rebuilds a constant as a broadcast of one repetition, so that axes of the
/// batch can split it. Returns null if the constant does not repeat.
Value Propagation::repeat(ConstantOp constant, LayoutAttr layout,
                          OpBuilder &builder) {
  std::optional<AxisLayout> batch = findBatch(layout);
  auto type = cast<RankedTensorType>(constant.getType());
  auto data = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!batch || !data || data.empty())
    return {};
  bool isBool = type.getElementType().isInteger(1);
  SmallVector<char> bytes;
  if (isBool)
    llvm::append_range(bytes, data.getValues<bool>());
  else
    llvm::append_range(bytes, data.getRawData());
  int64_t rows = type.getDimSize(batch->dim) / batch->pieces;
  int64_t rowBytes = isBool ? 1 : type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape().drop_front(batch->dim + 1))
    rowBytes *= size;
  int64_t blockBytes = rows * rowBytes;
  SmallVector<char> kept;
  int64_t period = 1;
  if (data.isSplat()) {
    kept.assign(bytes.begin(), bytes.begin() + (isBool ? 1 : bytes.size()));
  } else {
    auto forEachBlock = [&](llvm::function_ref<void(ArrayRef<char>)> visit) {
      for (ArrayRef<char> left = bytes; !left.empty();
           left = left.drop_front(blockBytes))
        visit(left.take_front(blockBytes));
    };
    forEachBlock([&](ArrayRef<char> block) {
      period = std::lcm(period, findPeriod(block, rowBytes));
    });
    forEachBlock([&](ArrayRef<char> block) {
      llvm::append_range(kept, block.take_front(period * rowBytes));
    });
  }
  int64_t copies = rows / period;
  if (copies == 1 && rows > 1)
    return {};

  // Builds [..., pieces * copies * period, ...] from [copies, ..., pieces,
  // period, ...]. Factors of size 1 get no dimension: an axis of size 1 fits
  // either.
  SmallVector<int64_t> shape(type.getShape()), apart(shape);
  apart.erase(apart.begin() + batch->dim);
  if (period > 1)
    apart.insert(apart.begin() + batch->dim, period);
  if (batch->pieces > 1)
    apart.insert(apart.begin() + batch->dim, batch->pieces);
  auto replicated = LayoutAttr::getReplicated(mesh);
  auto make = [&](ArrayRef<int64_t> dims) {
    return RankedTensorType::get(dims, type.getElementType(), replicated);
  };
  Location location = constant.getLoc();
  RankedTensorType row = make(apart), plain = withLayout(row, {});
  SmallVector<bool> bools(kept.begin(), kept.end());
  Value value = ConstantOp::create(
      builder, location, row,
      isBool ? DenseElementsAttr::get(plain, bools)
             : DenseElementsAttr::getFromRawBuffer(plain, kept));
  apart.insert(apart.begin(), copies);
  value = BroadcastOp::create(builder, location, make(apart), value);
  auto order = llvm::to_vector(llvm::seq<int64_t>(1, apart.size()));
  int64_t place = batch->dim + (batch->pieces > 1);
  order.insert(order.begin() + place, 0);
  if (place > 0)
    value = TransposeOp::create(
        builder, location, make(applyPermutation(apart, order)), value, order);
  if (period > 1 || batch->pieces > 1)
    value = ReshapeOp::create(builder, location, make(shape), value);
  return value;
}

/// Rebuilds a value that does not depend on the micro-batch in a layout that
/// axes of the batch split. Its operands are split the same way, down to
/// repeated values. Returns null if an operand is not the same for all parts of
/// the batch.
Value Propagation::remake(Value value, LayoutAttr layout, OpBuilder &builder,
                          Location location) {
  if (getLayout(value.getType()) == layout)
    return value;
  if (drawn.contains(value))
    return draw(value, layout, builder, location);
  Operation *op = value.getDefiningOp();
  if (auto moved = dyn_cast_if_present<ReshardOp>(op)) {
    // Rebuild the operand of a move in parts; they move as the whole did.
    Value made = remake(moved.getX(),
                        cutByBatch(getLayout(moved.getX().getType()), layout),
                        builder, location);
    return made ? reshard(made, layout, builder, location) : Value();
  }
  auto interface = dyn_cast_if_present<ShardingRuleInterface>(op);
  if (!interface || !isPure(op))
    return {};
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    Value repeated = repeat(constant, layout, builder);
    return repeated ? remake(repeated, layout, builder, location) : Value();
  }
  ShardingRule rule = interface.getShardingRule();
  unsigned number = cast<OpResult>(value).getResultNumber();
  FactorAxes axes;
  if (!readFactorAxes(rule, rule.results[number], layout, axes))
    return {};
  for (auto [operand, value] : llvm::zip(rule.operands, op->getOperands()))
    if (!readFactorAxes(rule, operand, getLayout(value.getType()), axes))
      return {};
  SmallVector<LayoutAttr> layouts;
  for (auto [operand, value] : llvm::zip(rule.operands, op->getOperands())) {
    auto entries = writeFactorAxes(rule, operand, mesh, axes);
    if (!entries)
      return {};
    for (const AxisLayout &entry : getLayout(value.getType()).getEntries())
      if (!entry.hasDim()) // partial, or the only micro-batch
        entries->push_back(entry);
    layouts.push_back(LayoutAttr::getCanonical(mesh, *entries));
  }
  std::string error;
  // The layouts of several results follow from the operands.
  SmallVector<LayoutAttr> given;
  if (op->getNumResults() == 1)
    given.push_back(layout);
  auto inferred = inferResultLayouts(rule, mesh, layouts, error, given);
  if (failed(inferred) || (*inferred)[number] != layout)
    return {};
  SmallVector<Value> operands;
  for (auto [operand, wanted] : llvm::zip(op->getOperands(), layouts)) {
    LayoutAttr own = getLayout(operand.getType());
    Value made = operand;
    if (isCutByBatch(operand, wanted))
      made = canRepeat(operand, wanted)
                 ? reshard(operand, wanted, builder, location)
                 : remake(operand, wanted, builder, location);
    else if (own != wanted)
      made = reshard(operand, wanted, builder, location);
    if (!made)
      return {};
    operands.push_back(made);
  }
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  for (auto [result, own] : llvm::zip(made->getResults(), *inferred))
    result.setType(withLayout(result.getType(), own));
  single.note(made);
  return made->getResult(number);
}
