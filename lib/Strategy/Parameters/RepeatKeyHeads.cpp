//===- RepeatKeyHeads.cpp - key heads that ranks share --------------------===//
//
// Grouped-query attention has fewer heads of keys and values than of queries.
// If tp does not divide them, each is repeated until it does: the ranks that
// have queries of one group then hold the same keys. The repetition moves up to
// the parameters that keys and values depend on, so that each rank computes
// only the heads that it needs.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/Axes.h"
#include <numeric>

namespace dtc {
#define GEN_PASS_DEF_REPEATKEYHEADS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Repeats the heads of values: `copies` times head 0, then head 1, ...
class HeadRepetition {
public:
  HeadRepetition(int64_t heads, int64_t copies)
      : heads(heads), copies(copies) {}

  /// Returns the value with repeated heads, which are the major part of `dim`.
  Value repeat(Value value, int64_t dim);

private:
  /// A dimension of an operand or result.
  using Dim = std::pair<unsigned, int64_t>;

  bool findDims(Operation *op, const Dim &dim, SmallVector<Dim> &operands,
                SmallVector<Dim> &results);
  Value select(Value value, int64_t dim);
  RankedTensorType getRepeated(Value value, int64_t dim) const {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] *= copies;
    return type.clone(shape);
  }

  int64_t heads, copies;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> repeated;
};

/// The first factor with a size other than 1, if any.
std::optional<unsigned> getMajor(const ShardingRule &rule,
                                 const DimFactors &factors) {
  for (unsigned factor : factors)
    if (rule.factors[factor].size != 1)
      return factor;
  return std::nullopt;
}

} // namespace

/// Finds the dimensions of an op that have the same heads and are repeated
/// together. Returns false if the op does not compute each head separately.
bool HeadRepetition::findDims(Operation *op, const Dim &dim,
                              SmallVector<Dim> &operands,
                              SmallVector<Dim> &results) {
  auto interface = dyn_cast_or_null<ShardingRuleInterface>(op);
  // Random numbers depend on the position in the tensor, and running statistics
  // are updated once.
  if (!interface ||
      isa<ConstantOp, RandomUniformOp, DropoutOp, BatchNormOp>(op))
    return false;
  ShardingRule rule = interface.getShardingRule();
  std::optional<unsigned> own =
      getMajor(rule, rule.results[dim.first][dim.second]);
  if (!own || rule.factors[*own].kind != FactorKind::Parallel ||
      rule.factors[*own].size % heads != 0)
    return false;
  auto collect = [&](ArrayRef<TensorFactors> tensors, SmallVector<Dim> &found) {
    for (auto [i, tensor] : llvm::enumerate(tensors))
      for (auto [position, factors] : llvm::enumerate(tensor)) {
        if (!llvm::is_contained(factors, *own))
          continue;
        if (getMajor(rule, factors) != own)
          return false;
        found.emplace_back(i, position);
      }
    return true;
  };
  return collect(rule.operands, operands) && collect(rule.results, results);
}

/// Selects rows of the value by constant indices. Each rank has its own part of
/// the indices.
Value HeadRepetition::select(Value value, int64_t dim) {
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  auto split =
      b.getDictionaryAttr(b.getNamedAttr(tensorAxis, b.getI64IntegerAttr(dim)));
  if (type.getDimSize(dim) == 1) {
    auto all = BroadcastOp::create(b, loc, getRepeated(value, dim), value);
    all->setAttr(attr::splitDims, split);
    return all;
  }
  int64_t width = type.getDimSize(dim) / heads;
  SmallVector<int64_t> rows;
  for (int64_t head : llvm::seq(heads * copies))
    for (int64_t row : llvm::seq(width))
      rows.push_back(head / copies * width + row);
  auto rowType = RankedTensorType::get(rows.size(), b.getI64Type());
  auto indices = ConstantOp::create(
      b, loc, rowType, DenseElementsAttr::get(rowType, ArrayRef(rows)));
  indices->setAttr(attr::splitDims, b.getDictionaryAttr(b.getNamedAttr(
                                        tensorAxis, b.getI64IntegerAttr(0))));
  if (dim == 0)
    return GatherOp::create(b, loc, value, indices);
  SmallVector<int64_t> order(type.getRank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[dim]);
  Value table = TransposeOp::create(b, loc, value, order);
  Value all = GatherOp::create(b, loc, table, indices);
  return TransposeOp::create(b, loc, all, order);
}

Value HeadRepetition::repeat(Value value, int64_t dim) {
  if (Value known = repeated.lookup({value, dim}))
    return known;
  SmallVector<Dim> operands, results;
  auto result = dyn_cast<OpResult>(value);
  if (!result || !findDims(result.getOwner(), {result.getResultNumber(), dim},
                           operands, results))
    return repeated[{value, dim}] = select(value, dim);
  Operation *op = result.getOwner();
  SmallVector<Value> own(op->getOperands());
  for (auto [operand, position] : operands)
    own[operand] = repeat(own[operand], position);
  OpBuilder b(op);
  Operation *all = b.clone(*op);
  all->setOperands(own);
  for (auto [i, position] : results) {
    all->getResult(i).setType(getRepeated(op->getResult(i), position));
    repeated[{op->getResult(i), position}] = all->getResult(i);
  }
  return repeated[{value, dim}];
}

namespace {

struct RepeatKeyHeads : dtc::impl::RepeatKeyHeadsBase<RepeatKeyHeads> {
  using RepeatKeyHeadsBase::RepeatKeyHeadsBase;

  void runOnOperation() override {
    if (tp == 1)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::DenseMap<std::pair<int64_t, int64_t>, HeadRepetition> repetitions;
      for (auto op : llvm::to_vector(function.getOps<AttentionOp>()))
        run(op, repetitions);
      eraseDeadOps(function);
    }
  }

private:
  void run(AttentionOp op,
           llvm::DenseMap<std::pair<int64_t, int64_t>, HeadRepetition>
               &repetitions) {
    constexpr int64_t headDim = 2;
    int64_t heads = op.getKeys().getType().getDimSize(headDim);
    int64_t group = op.getQueries().getType().getDimSize(headDim) / heads;
    int64_t copies = tp / std::gcd(heads, int64_t(tp));
    // If tp does not divide the queries either, ChooseSplits reports a divisor
    // of their number.
    if (group % copies != 0)
      copies = group;
    if (copies == 1)
      return;
    HeadRepetition &repetition =
        repetitions.try_emplace({heads, copies}, heads, copies).first->second;
    op.getKeysMutable().assign(repetition.repeat(op.getKeys(), headDim));
    op.getValuesMutable().assign(repetition.repeat(op.getValues(), headDim));
  }
};

} // namespace
