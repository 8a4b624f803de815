//===- ExchangeExperts.cpp - rows to the ranks of their experts -----------===//
//
// Products by chosen matrices become products in slots, whose experts an axis
// of the mesh splits. Ops between two products move into the slots.
//
//===----------------------------------------------------------------------===//

#include "DistinctIndices.h"
#include "Numbers.h"
#include "dtc/Dialect/Elementwise.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/Axes.h"
#include <cmath>

namespace dtc {
#define GEN_PASS_DEF_EXCHANGEEXPERTS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {

/// All products by one choice of experts.
class Router {
public:
  Router(Value indices, int64_t experts, int64_t groups, int64_t capacity)
      : indices(indices), rows(typeOf(indices).getDimSize(0)), experts(experts),
        groups(groups), capacity(capacity), builder(indices.getContext()) {}

  /// Moves products, and ops that read their results, into slots. Parameters
  /// that belong to experts are added to `split`.
  void run(func::FuncOp step, llvm::SetVector<Value> &split);

private:
  /// Whether a value has the router's rows as its first dimension.
  bool hasRows(Value value) const {
    RankedTensorType type = typeOf(value);
    return type.getRank() > 0 && type.getDimSize(0) == rows;
  }
  bool isOwnProduct(Operation *op) const {
    auto product = dyn_cast<GroupedMatMulOp>(op);
    return product && product.getIndices() == indices &&
           product.getWeights().getType().getDimSize(0) == experts;
  }
  /// The operands of an op that have the rows of its results.
  SmallVector<bool> findRows(Operation *op) const;
  bool canLift(Operation *op) const;
  Value findBiases(Value value) const;
  Value mask(Value value, int64_t rank);
  Value getSlots(Value value);
  Value getRows(Value value, Value made);
  void lift(GroupedMatMulOp product);
  void lift(Operation *op);
  /// The type of a value of rows in slots.
  Type inSlots(Type rowType) const {
    auto type = cast<RankedTensorType>(rowType);
    SmallVector<int64_t> shape = {experts, groups, capacity};
    llvm::append_range(shape, type.getShape().drop_front());
    return type.clone(shape);
  }

  Value indices;
  int64_t rows, experts, groups, capacity;
  OpBuilder builder;
  Value counts;
  llvm::DenseMap<Value, Value> slots; ///< by the value of rows
  SmallVector<Value> moved;           ///< values whose ops are in slots now
  /// Tables of biases, and weights.
  llvm::SetVector<Value> parameters;
};

} // namespace

/// Slots have two more dimensions than rows, so dimension d > 0 becomes d + 2.
static constexpr int64_t shift = 2;

SmallVector<bool> Router::findRows(Operation *op) const {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  return llvm::map_to_vector(op->getOpOperands(), [&](OpOperand &operand) {
    bool canHave = isElementwise(op)
                       ? typeOf(operand.get()).getRank() == rank
                       : operand.getOperandNumber() == 0 || isa<ConcatOp>(op);
    return canHave && hasRows(operand.get());
  });
}

/// Whether the op treats each row alone, and can do so in slots.
bool Router::canLift(Operation *op) const {
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
Value Router::findBiases(Value value) const {
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

Value Router::getSlots(Value value) {
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
Value Router::mask(Value value, int64_t rank) {
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

void Router::lift(GroupedMatMulOp product) {
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

void Router::lift(Operation *op) {
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
Value Router::getRows(Value value, Value made) {
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

void Router::run(func::FuncOp step, llvm::SetVector<Value> &split) {
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

namespace {

struct ExchangeExperts : dtc::impl::ExchangeExpertsBase<ExchangeExperts> {
  using ExchangeExpertsBase::ExchangeExpertsBase;

  void runOnOperation() override {
    if (ep == 1)
      return;
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step) || failed(exchange(*step)))
      signalPassFailure();
  }

private:
  LogicalResult exchange(func::FuncOp step) {
    llvm::SetVector<std::pair<Value, int64_t>> choices;
    for (auto product : step.getOps<GroupedMatMulOp>())
      choices.insert(
          {product.getIndices(), product.getWeights().getType().getDimSize(0)});
    if (choices.empty())
      return step.emitError("has no experts that --ep could split: expected "
                            "products by matrices that a router chooses; leave "
                            "out --ep");
    llvm::SetVector<Value> parameters;
    for (auto [indices, experts] : choices) {
      int64_t rows = typeOf(indices).getDimSize(0), ranks = ep;
      if (experts % ranks)
        return emitError(indices.getLoc())
               << "has " << experts << " experts, which --ep " << ranks
               << " does not divide; use a divisor of " << experts;
      if (rows % groups)
        return emitError(indices.getLoc())
               << "has " << rows << " rows for experts, which the "
               << int64_t(groups)
               << " parts of the batch do not divide; use a batch that dp x "
                  "microbatches x accumulate divides";
      Router(indices, experts, groups, getCapacity(indices, experts))
          .run(step, parameters);
    }
    eraseDeadOps(step);
    return splitParameters(step, parameters);
  }

  /// The number of slots of an expert for a group.
  int64_t getCapacity(Value indices, int64_t experts) const {
    int64_t rows = typeOf(indices).getDimSize(0) / groups;
    int64_t distinct = findDistinct(indices);
    int64_t most = rows % distinct ? rows : rows / distinct;
    if (capacity == 0)
      return most;
    double wanted = std::ceil(capacity * double(rows) / double(experts));
    return static_cast<int64_t>(std::clamp(wanted, 1.0, double(most)));
  }

  /// Parameters of experts have their first dimension split over ep. A gather
  /// needs the whole table, so a table that one still reads is not split.
  LogicalResult splitParameters(func::FuncOp step,
                                const llvm::SetVector<Value> &parameters) {
    SignatureEditor signature(step);
    Builder builder(&getContext());
    llvm::SetVector<Value> split;
    for (Value value : parameters) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool isOwn = llvm::none_of(value.getUsers(), [](Operation *user) {
        return isa<GatherOp>(user);
      });
      if (!argument || !isOwn || !getArgString(argument, attr::parameter))
        continue;
      split.insert(value);
      signature.setArg(argument.getArgNumber(), attr::splitDims,
                       builder.getDictionaryAttr(builder.getNamedAttr(
                           expertAxis, builder.getI64IntegerAttr(0))));
    }
    signature.write();
    if (split.empty())
      return step.emitError("computes the weights of all experts, so --ep "
                            "cannot split them: expected parameters [experts, "
                            ".., ..]; leave out --ep");
    auto warn = [&](Operation &op, StringRef why) {
      op.emitWarning("reads weights of experts that --ep does not split, "
                     "because ")
          << why << ": each rank has those of all experts";
    };
    for (Operation &op : step.front())
      if (auto product = dyn_cast<ExpertMatMulOp>(op)) {
        if (!split.contains(product.getWeights()))
          warn(op, "they are computed, or something else reads them whole");
      } else if (auto gather = dyn_cast<GatherOp>(op)) {
        if (gather.getTable().getType().getRank() > 2 &&
            gather.getBatchDims() == 0 && isFloatTensor(gather.getType()) &&
            !getConstant(gather.getIndices()))
          warn(op, "their product has a form that dtc does not know");
      }
    return success();
  }
};

} // namespace
