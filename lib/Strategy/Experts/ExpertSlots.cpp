//===- ExpertSlots.cpp - products by chosen matrices, in slots ------------===//
//
// An op whose operands are in slots moves there, if it treats each row alone.
//
//===----------------------------------------------------------------------===//

#include "ExpertSlots.h"
#include "Numbers.h"
#include "dtc/Dialect/Elementwise.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Slots have two more dimensions than rows, so dimension d > 0 becomes d + 2.
static constexpr int64_t shift = 2;

SmallVector<bool> ExpertSlots::findRows(Operation *op) const {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  return llvm::map_to_vector(op->getOpOperands(), [&](OpOperand &operand) {
    bool canHave = isElementwise(op)
                       ? typeOf(operand.get()).getRank() == rank
                       : operand.getOperandNumber() == 0 || isa<ConcatOp>(op);
    return canHave && hasRows(operand.get());
  });
}

/// Whether the op treats each row alone, and can do so in slots.
bool ExpertSlots::canLift(Operation *op) const {
  if (op->getNumResults() == 0 || !llvm::all_of(op->getResults(), [&](Value v) {
        return isa<RankedTensorType>(v.getType()) && hasRows(v);
      }))
    return false;
  if (isa<BoundaryOp>(op))
    return false;
  auto isOther = [](int64_t dim) { return dim > 0; };
  if (isElementwise(op) || isa<ReshapeOp>(op))
    return true;
  if (isa<SoftmaxOp, LogSoftmaxOp>(op))
    return typeOf(op->getOperand(0)).getRank() > 1;
  if (auto sum = dyn_cast<ReduceSumOp>(op))
    return llvm::all_of(sum.getAxes(), isOther);
  if (auto most = dyn_cast<ReduceMaxOp>(op))
    return llvm::all_of(most.getAxes(), isOther);
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.getPermutation().front() == 0;
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    return isa<SliceOp, SplitOp, ConcatOp, PadOp>(op) && isOther(axis.getInt());
  return false;
}

/// Returns the table if the value is a gather of one bias for each row, perhaps
/// reshaped; else null.
Value ExpertSlots::findBiases(Value value) const {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    value = reshape.getX();
    if (!hasRows(value))
      return {};
  }
  auto gather = value.getDefiningOp<GatherOp>();
  bool isBias = gather && gather.getIndices() == indices &&
                !gather.getStarts() && gather.getBatchDims() == 0 &&
                gather.getTable().getType().getDimSize(0) == experts;
  return isBias ? gather.getTable() : Value();
}

Value ExpertSlots::getSlots(Value value) {
  if (Value known = slots.lookup(value))
    return known;
  Location loc = value.getLoc();
  RankedTensorType type = typeOf(value);
  if (Value table = findBiases(value)) {
    parameters.insert(table);
    SmallVector<int64_t> shape = {experts, 1, 1};
    llvm::append_range(shape, type.getShape().drop_front());
    Value biases = ReshapeOp::create(builder, loc, type.clone(shape), table);
    return slots[value] = mask(biases, int64_t(shape.size()));
  }
  // Rows of any rank travel as vectors.
  Value flat = value;
  int64_t width = type.getNumElements() / rows;
  if (type.getRank() != 2)
    flat = ReshapeOp::create(builder, loc, type.clone({rows, width}), value);
  Value made = DispatchOp::create(
      builder, loc, type.clone({experts, groups, capacity, width}), flat,
      indices, builder.getStringAttr(expertAxis));
  if (type.getRank() != 2)
    made = ReshapeOp::create(builder, loc,
                             cast<RankedTensorType>(inSlots(type)), made);
  return slots[value] = made;
}

/// A value that all slots read, with zero in empty ones. So whatever an op
/// makes of an empty slot, even NaN, reaches no gradient of the value.
Value ExpertSlots::mask(Value value, int64_t rank) {
  Location loc = value.getLoc();
  Type number = builder.getI32Type();
  auto reshape = [&](Value x, ArrayRef<int64_t> shape) -> Value {
    return ReshapeOp::create(builder, loc, typeOf(x).clone(shape), x);
  };
  auto places = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(capacity)));
  auto type = RankedTensorType::get({1, 1, capacity}, number);
  Value place = ConstantOp::create(
      builder, loc, type, DenseElementsAttr::get(type, ArrayRef(places)));
  Value isFilled = CompareOp::create(builder, loc, Comparison::lt, place,
                                     reshape(counts, {experts, groups, 1}));
  SmallVector<int64_t> shape = {experts, groups, capacity};
  shape.resize(rank, 1);
  return SelectOp::create(
      builder, loc, reshape(isFilled, shape), value,
      createNumber(builder, loc, getElementTypeOrSelf(value), 0));
}

void ExpertSlots::lift(GroupedMatMulOp product) {
  builder.setInsertionPoint(product);
  Location loc = product.getLoc();
  StringAttr axis = builder.getStringAttr(expertAxis);
  if (!counts)
    counts = CountRowsOp::create(
        builder, loc,
        RankedTensorType::get({experts, groups}, builder.getI32Type()), indices,
        axis, capacity);
  parameters.insert(product.getWeights());
  slots[product.getResult()] = ExpertMatMulOp::create(
      builder, loc, getSlots(product.getRows()), product.getWeights(), counts,
      product.getTransposeWeights(), rows / groups);
  moved.push_back(product.getResult());
}

void ExpertSlots::lift(Operation *op) {
  builder.setInsertionPoint(op);
  SmallVector<Value> operands;
  int64_t rank = typeOf(op->getResult(0)).getRank() + shift;
  for (auto [operand, isRow] : llvm::zip(op->getOperands(), findRows(op))) {
    bool isRead = !isRow && isFloatTensor(operand.getType()) &&
                  !operand.getDefiningOp<ConstantOp>();
    operands.push_back(isRow    ? getSlots(operand)
                       : isRead ? mask(operand, rank)
                                : operand);
  }
  Operation *lifted = builder.clone(*op);
  lifted->setOperands(operands);
  for (auto [own, result] : llvm::zip(op->getResults(), lifted->getResults())) {
    result.setType(inSlots(own.getType()));
    slots[own] = result;
    moved.push_back(own);
  }
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    lifted->setAttr("axis", builder.getI64IntegerAttr(axis.getInt() + shift));
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    lifted->setAttr("axes", builder.getDenseI64ArrayAttr(llvm::map_to_vector(
                                axes.asArrayRef(),
                                [](int64_t axis) { return axis + shift; })));
  if (auto transpose = dyn_cast<TransposeOp>(lifted)) {
    SmallVector<int64_t> order = {0, 1};
    for (int64_t dim : transpose.getPermutation())
      order.push_back(dim + shift);
    transpose.setPermutation(order);
  }
}

/// Builds the rows of what has moved.
Value ExpertSlots::getRows(Value value, Value made) {
  Location loc = value.getLoc();
  RankedTensorType type = typeOf(value);
  builder.setInsertionPointAfterValue(made);
  int64_t width = type.getNumElements() / rows;
  if (type.getRank() != 2)
    made = ReshapeOp::create(
        builder, loc, type.clone({experts, groups, capacity, width}), made);
  Value row = CombineOp::create(builder, loc, type.clone({rows, width}), made,
                                indices, builder.getStringAttr(expertAxis));
  if (type.getRank() != 2)
    row = ReshapeOp::create(builder, loc, type, row);
  return row;
}

void ExpertSlots::run(func::FuncOp step, llvm::SetVector<Value> &split) {
  llvm::DenseSet<Operation *> between; // ops on which a product depends
  for (Operation &op : llvm::reverse(step.front()))
    if (isOwnProduct(&op) || between.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && canLift(producer))
          between.insert(producer);
  for (Operation &op : llvm::make_early_inc_range(step.front())) {
    if (isOwnProduct(&op)) {
      lift(cast<GroupedMatMulOp>(op));
      continue;
    }
    auto isIn = [&](Value value) { return slots.contains(value); };
    if (!canLift(&op) || llvm::none_of(op.getOperands(), isIn))
      continue;
    // Ops after products move if no other value has to.
    bool isFree = llvm::all_of(
        llvm::zip(op.getOperands(), findRows(&op)), [&](const auto &pair) {
          auto [operand, isRow] = pair;
          return !isRow || isIn(operand) || findBiases(operand);
        });
    if (isFree || between.contains(&op))
      lift(&op);
  }
  for (Value value : moved)
    if (!value.use_empty())
      value.replaceAllUsesWith(getRows(value, slots.lookup(value)));
  split.insert(parameters.begin(), parameters.end());
}
