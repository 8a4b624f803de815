//===- DivideAttention.cpp - attention as products of blocks --------------===//
//
// For attention that no library computes: computes the scores of some samples,
// heads or queries at a time, and the gradient recomputes them instead of
// keeping all of them. A block of queries of a causal attention reads no keys
// after its last query.
//
//===----------------------------------------------------------------------===//

#include "LayoutBuilder.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <algorithm>
#include <limits>

namespace dtc {
#define GEN_PASS_DEF_DIVIDEATTENTION
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// A dimension of which each of `ranks` ranks has `count` blocks of `size`.
struct Blocks {
  int64_t ranks = 1, count = 1, size = 1;

  static Blocks divide(int64_t whole, int64_t local, int64_t maxSize) {
    local = std::max<int64_t>(local, 1);
    int64_t size = std::clamp<int64_t>(maxSize, 1, local);
    while (local % size)
      --size;
    return {whole / local, local / size, size};
  }
};

/// An attention or its gradient for a block of queries at a time, as matrices
/// [samples, groups, rows, width]. Rows are keys, or the queries of all heads
/// of a group.
template <typename OpTy> class Division {
public:
  Division(OpTy op, int64_t maxBytes, int64_t minQueries);

  LogicalResult run();

private:
  using Values = SmallVector<Value>;

  void chooseBlocks(int64_t maxBytes, int64_t minQueries);
  Values computeQueries(int64_t first, int64_t count);
  Values joinQueries(ArrayRef<Values> parts);
  Values computeBlock(int64_t i, int64_t j);
  Value getBlock(Value x, int64_t i, int64_t j, int64_t headsOfGroup = 1);
  Value join(ArrayRef<Value> blocks);

  /// The probabilities and the lse of a block of scores, by head.
  struct Rows {
    Value p, lse;
  };
  Rows computeRows(int64_t i, int64_t j);
  Value getScale() { return b.number(op.getScale().convertToDouble(), wide); }
  Value product(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs,
                Type type);
  Value ofHeads(Value x) { return regroup(x, repeats, 1); }
  Value ofGroups(Value x) { return regroup(x, 1, repeats); }
  /// Splits matrices into `more` times as many with fewer rows, or joins
  /// `fewer` of them into one.
  Value regroup(Value x, int64_t more, int64_t fewer) {
    ArrayRef<int64_t> s = shapeOf(x);
    return b.reshape(x, {s[0], s[1] * more / fewer, s[2] / more * fewer, s[3]});
  }

  OpTy op;
  LayoutBuilder b;
  Type element, wide; ///< types of operands and of sums
  int64_t repeats;    ///< number of heads of a group
  int64_t queriesAtOnce;
  Blocks samples, groups;
  // Operands for a block of queries, from this query on.
  int64_t firstQuery = 0;
  Value queries, keys, values, dresult; ///< as matrices
  Value mask;                           ///< or null
  /// Operands for all queries, by heads.
  struct {
    Value queries, keys, values, dresult;
  } all;
};

} // namespace

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

template <typename OpTy>
Division<OpTy>::Division(OpTy op, int64_t maxBytes, int64_t minQueries)
    : op(op), b(op), element(getElementTypeOrSelf(op.getQueries())),
      wide(getComputeType(element)) {
  AttentionSizes local = op.getSizes();
  repeats = local.heads / local.groups;
  chooseBlocks(maxBytes, minQueries);
}

template <typename OpTy>
void Division<OpTy>::chooseBlocks(int64_t maxBytes, int64_t minQueries) {
  AttentionSizes local = op.getSizes();
  int64_t bytesOfQuery = local.keys * (wide.getIntOrFloatBitWidth() / 8);
  auto countFitting = [&](int64_t bytes) {
    return maxBytes / std::max<int64_t>(bytes, 1);
  };
  queriesAtOnce = shapeOf(op.getQueries())[1];
  int64_t rows = local.queries;
  if (rows == queriesAtOnce) { // not shared by ranks
    // Four blocks compute 5/8 of a causal attention's scores, of which 1/2
    // counts.
    if (op.getCausal() && rows >= 4 * minQueries)
      queriesAtOnce = llvm::divideCeil(rows, 4);
    // As many queries of one group as fit, in at most 16 blocks of equal size.
    int64_t most = std::max({countFitting(bytesOfQuery * repeats), minQueries,
                             static_cast<int64_t>(llvm::divideCeil(rows, 16))});
    if (queriesAtOnce > most)
      queriesAtOnce = llvm::divideCeil(rows, llvm::divideCeil(rows, most));
    rows = queriesAtOnce;
  }
  int64_t heads = countFitting(bytesOfQuery * rows);
  ArrayRef<int64_t> keys = shapeOf(op.getKeys());
  samples = Blocks::divide(keys[0], local.batch,
                           heads / std::max<int64_t>(local.heads, 1));
  // Divide groups only if a block holds less than a sample.
  groups = Blocks::divide(keys[2], local.groups,
                          heads < local.heads ? heads / repeats : local.groups);
}

/// Returns block (i, j) of matrices, of which each group has `headsOfGroup`, by
/// way of [ranks, blocks, samples, ranks, blocks, groups, rows, width].
template <typename OpTy>
Value Division<OpTy>::getBlock(Value x, int64_t i, int64_t j,
                               int64_t headsOfGroup) {
  if (samples.count * groups.count == 1)
    return x;
  ArrayRef<int64_t> s = shapeOf(x);
  // A mask's dimensions of size 1 belong to all blocks.
  Blocks n = s[0] == 1 ? Blocks() : samples;
  Blocks g = s[1] == 1 ? Blocks() : groups;
  if (s[1] != 1)
    g.size *= headsOfGroup;
  Value y = b.reshape(
      x, {n.ranks, n.count, n.size, g.ranks, g.count, g.size, s[2], s[3]});
  if (n.count > 1)
    y = b.view(y, 1, i);
  if (g.count > 1)
    y = b.view(y, 4, j);
  return b.reshape(y, {n.ranks * n.size, g.ranks * g.size, s[2], s[3]});
}

/// The inverse of `getBlock`: joins the blocks in order.
template <typename OpTy> Value Division<OpTy>::join(ArrayRef<Value> blocks) {
  if (blocks.size() == 1)
    return blocks.front();
  ArrayRef<int64_t> s = shapeOf(blocks.front());
  Values ofSamples;
  for (int64_t i = 0; i < samples.count; ++i) {
    Values parts;
    for (Value block : blocks.slice(i * groups.count, groups.count))
      parts.push_back(
          b.reshape(block, {samples.ranks, 1, samples.size, groups.ranks, 1,
                            groups.size, s[2], s[3]}));
    ofSamples.push_back(b.concat(parts, 4));
  }
  return b.reshape(b.concat(ofSamples, 1),
                   {samples.ranks * samples.count * samples.size,
                    groups.ranks * groups.count * groups.size, s[2], s[3]});
}

//===----------------------------------------------------------------------===//
// Computation of a block
//===----------------------------------------------------------------------===//

template <typename OpTy>
Value Division<OpTy>::product(Value lhs, Value rhs, bool transposeLhs,
                              bool transposeRhs, Type type) {
  Value y = b.create<MatMulOp>(lhs, rhs, transposeLhs, transposeRhs);
  y.setType(cast<RankedTensorType>(y.getType()).clone(type));
  return y;
}

template <typename OpTy>
typename Division<OpTy>::Rows Division<OpTy>::computeRows(int64_t i,
                                                          int64_t j) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value x = ofHeads(product(getBlock(queries, i, j), getBlock(keys, i, j),
                            false, true, wide));
  x = b.create<MulOp>(x, getScale());
  if (mask)
    x = b.create<AddOp>(x, b.cast(getBlock(mask, i, j, repeats), wide));
  if (op.getCausal()) {
    ArrayRef<int64_t> scores = shapeOf(x).take_back(2);
    Value isSeen = b.create<CompareOp>(
        Comparison::ge, b.broadcast(b.count({scores[0], 1}, firstQuery), x),
        b.count({scores[1]}));
    x = b.create<SelectOp>(isSeen, x, b.number(-infinity, wide));
  }
  Value largest = b.reduce<ReduceMaxOp>(x), hasKey;
  if (mask) {
    Value zero = b.number(0, wide);
    hasKey =
        b.create<CompareOp>(Comparison::gt, largest, b.number(-infinity, wide));
    largest = b.create<SelectOp>(hasKey, largest, zero);
  }
  Value e = b.create<ExpOp>(b.create<SubOp>(x, largest));
  Value sum = b.reduce<ReduceSumOp>(e);
  Value lse = b.create<AddOp>(largest, b.create<LogOp>(sum));
  if (mask) {
    // All exponentials of such a row are 0.
    sum = b.create<SelectOp>(hasKey, sum, b.number(1, wide));
    lse = b.create<SelectOp>(hasKey, lse, b.number(infinity, wide));
  }
  return {b.create<DivOp>(e, sum), lse};
}

template <>
SmallVector<Value> Division<AttentionOp>::computeBlock(int64_t i, int64_t j) {
  Value v = getBlock(values, i, j);
  Rows rows = computeRows(i, j);
  Value p = ofGroups(b.cast(rows.p, element));
  return {product(p, v, false, false, element), ofGroups(rows.lse)};
}

/// Uses the names of the op's documentation.
template <>
SmallVector<Value> Division<AttentionGradOp>::computeBlock(int64_t i,
                                                           int64_t j) {
  Value q = getBlock(queries, i, j), k = getBlock(keys, i, j);
  Value v = getBlock(values, i, j), dy = getBlock(dresult, i, j);
  Value p = computeRows(i, j).p;
  Value dp = ofHeads(product(dy, v, false, true, wide));
  Value sum = b.reduce<ReduceSumOp>(b.create<MulOp>(dp, p));
  Value ds = b.create<MulOp>(b.create<SubOp>(dp, sum), p);
  ds = b.create<MulOp>(ds, getScale());
  ds = ofGroups(b.cast(ds, element));
  p = ofGroups(b.cast(p, element));
  // Round sums over blocks of queries only at the end.
  bool isSum = queriesAtOnce < shapeOf(op.getQueries())[1];
  return {product(ds, k, false, false, element),
          product(ds, q, true, false, isSum ? wide : element),
          product(p, dy, true, false, isSum ? wide : element)};
}

/// Returns the results for a range of queries, by heads.
template <typename OpTy>
SmallVector<Value> Division<OpTy>::computeQueries(int64_t first,
                                                  int64_t count) {
  firstQuery = first;
  int64_t seen = op.getCausal() ? first + count : shapeOf(op.getKeys())[1];
  auto getQueries = [&](Value ofHeads) {
    return ofGroups(b.slice(ofHeads, 2, first, count));
  };
  queries = getQueries(all.queries);
  keys = b.slice(all.keys, 2, 0, seen);
  values = b.slice(all.values, 2, 0, seen);
  mask = op.getMask();
  if (mask && shapeOf(mask)[2] != 1)
    mask = b.slice(mask, 2, first, count);
  if (mask)
    mask = b.slice(mask, 3, 0, seen);
  if constexpr (std::is_same_v<OpTy, AttentionGradOp>)
    dresult = getQueries(all.dresult);
  SmallVector<Values> blocks(op->getNumResults());
  for (int64_t i = 0; i < samples.count; ++i)
    for (int64_t j = 0; j < groups.count; ++j)
      for (auto [parts, value] : llvm::zip_equal(blocks, computeBlock(i, j)))
        parts.push_back(value);
  return llvm::map_to_vector(blocks,
                             [&](const Values &parts) { return join(parts); });
}

template <>
SmallVector<Value> Division<AttentionOp>::joinQueries(ArrayRef<Values> parts) {
  Values results, lse;
  for (const Values &own : parts) {
    results.push_back(ofHeads(own[0]));
    lse.push_back(ofHeads(own[1]));
  }
  return {b.transpose(b.concat(results, 2)),
          b.reshape(b.concat(lse, 2), shapeOf(op.getLse()))};
}

template <>
SmallVector<Value>
Division<AttentionGradOp>::joinQueries(ArrayRef<Values> parts) {
  Values dqueries, dkeys, dvalues;
  for (const Values &own : parts) {
    dqueries.push_back(ofHeads(own[0]));
    dkeys.push_back(own[1]);
    dvalues.push_back(own[2]);
  }
  int64_t size = shapeOf(op.getKeys())[1];
  auto add = [&](ArrayRef<Value> values) {
    return b.transpose(b.cast(b.sum(values, 2, size), element));
  };
  return {b.transpose(b.concat(dqueries, 2)), add(dkeys), add(dvalues)};
}

template <typename OpTy> LogicalResult Division<OpTy>::run() {
  all.queries = b.transpose(op.getQueries());
  all.keys = b.transpose(op.getKeys());
  all.values = b.transpose(op.getValues());
  if constexpr (std::is_same_v<OpTy, AttentionGradOp>)
    all.dresult = b.transpose(op.getDresult());
  int64_t end = shapeOf(op.getQueries())[1];
  SmallVector<Values> parts;
  for (int64_t first = 0; first < end || parts.empty(); first += queriesAtOnce)
    parts.push_back(
        computeQueries(first, std::min(queriesAtOnce, end - first)));
  Values results = joinQueries(parts);
  if (!b.getError().empty())
    return op.emitOpError("cannot be divided: ") << b.getError();
  if (ValueRange(results).getTypes() != op->getResultTypes())
    return op.emitOpError("cannot be divided: its layouts are not those of its "
                          "products");
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

namespace {

struct DivideAttention : dtc::impl::DivideAttentionBase<DivideAttention> {
  using DivideAttentionBase::DivideAttentionBase;

  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp function) {
      bool isDivided = divide<AttentionOp>(function);
      isDivided |= divide<AttentionGradOp>(function);
      if (isDivided)
        eraseDeadOps(function);
    });
  }

private:
  /// Returns whether there was something to divide.
  template <typename OpTy> bool divide(func::FuncOp function) {
    bool isDivided = false;
    for (auto op : llvm::to_vector(function.getOps<OpTy>()))
      if (op.getDivided()) {
        isDivided = true;
        if (!getLayout(op.getQueries().getType())) {
          op.emitOpError("has no layouts, expected a function of a stage");
          signalPassFailure();
        } else if (failed(Division<OpTy>(op, maxBlock, minQueries).run())) {
          signalPassFailure();
        }
      }
    return isDivided;
  }
};

} // namespace
