//===- DivideAttention.cpp - attention as products of blocks --------------===//
//
// For attention that no library computes: the scores of some samples or heads
// at a time, made again by the gradient, instead of all of them, kept.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Schedule/Passes.h"
#include "dtc/Training/StepFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <algorithm>
#include <limits>

namespace dtc {
#define GEN_PASS_DEF_DIVIDEATTENTION
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

namespace {

/// Creates ops whose layouts follow from those of their operands.
class LayoutBuilder {
public:
  LayoutBuilder(Operation *op)
      : b(op), loc(op->getLoc()),
        mesh(getLayout(op->getOperand(0).getType()).getMesh()) {}

  template <typename OpTy, typename... Args> Value create(Args &&...args) {
    auto op = OpTy::create(b, loc, std::forward<Args>(args)...);
    setLayouts(op);
    return op->getResult(0);
  }
  Value cast(Value x, Type element) {
    return getElementTypeOrSelf(x) == element
               ? x
               : create<CastOp>(getPlain(x, shapeOf(x), element), x);
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    return shapeOf(x) == shape ? x : create<ReshapeOp>(getPlain(x, shape), x);
  }
  Value transpose(Value x) {
    return create<TransposeOp>(x, ArrayRef<int64_t>{0, 2, 1, 3});
  }
  /// One index of a dimension.
  Value slice(Value x, int64_t axis, int64_t start) {
    auto shape = llvm::to_vector(shapeOf(x));
    shape[axis] = 1;
    return create<SliceOp>(getPlain(x, shape), x, axis, start, /*view=*/true);
  }
  Value concat(ArrayRef<Value> parts, int64_t axis) {
    if (parts.size() == 1)
      return parts.front();
    auto shape = llvm::to_vector(shapeOf(parts.front()));
    shape[axis] *= parts.size();
    return create<ConcatOp>(getPlain(parts.front(), shape), parts, axis);
  }
  /// Over rows of the last dimension.
  template <typename OpTy> Value reduce(Value x) {
    int64_t rank = shapeOf(x).size();
    return create<OpTy>(x, ArrayRef<int64_t>{rank - 1});
  }
  Value constant(DenseElementsAttr value) {
    return create<ConstantOp>(value.getType(), value);
  }
  Value number(double value, Type element) {
    return constant(DenseElementsAttr::get(RankedTensorType::get({}, element),
                                           b.getFloatAttr(element, value)));
  }
  /// Repeats a constant as x lies.
  Value broadcast(Value constant, Value x) {
    auto op =
        BroadcastOp::create(b, loc, getPlain(constant, shapeOf(x)), constant);
    setLayouts(op, getLayout(x.getType()));
    return op.getY();
  }
  /// 0, 1, .. in this shape.
  Value count(ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, b.getI32Type());
    auto numbers =
        llvm::to_vector(llvm::seq<int32_t>(0, type.getNumElements()));
    return constant(DenseElementsAttr::get(type, ArrayRef(numbers)));
  }

  /// Why some op has no layout; empty if all have.
  StringRef getError() const { return error; }

private:
  static RankedTensorType getPlain(Value like, ArrayRef<int64_t> shape,
                                   Type element = {}) {
    return RankedTensorType::get(shape, element ? element
                                                : getElementTypeOrSelf(like));
  }
  /// A repetition lies as `repeated` does.
  void setLayouts(Operation *op, LayoutAttr repeated = {});

  OpBuilder b;
  Location loc;
  MeshAttr mesh;
  std::string error;
};

/// A dimension, of which each of `ranks` has `count` blocks of `size`.
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

/// An attention or its gradient as matrices [samples, groups, rows, width],
/// where rows are keys, or the queries of all heads of a group.
template <typename OpTy> class Division {
public:
  Division(OpTy op, int64_t maxBytes);

  LogicalResult run();

private:
  using Values = SmallVector<Value>;

  Values computeBlock(int64_t i, int64_t j);
  Value getMatrices(Value x, int64_t headsOfGroup);
  Value getBlock(Value x, int64_t i, int64_t j, int64_t headsOfGroup = 1);
  Value join(ArrayRef<Value> blocks);
  Value asTensor(Value matrices, int64_t headsOfGroup);

  /// What a block of scores gives, for each head.
  struct Rows {
    Value p, lse;
  };
  Rows computeRows(int64_t i, int64_t j);
  Value getScale() { return b.number(op.getScale().convertToDouble(), wide); }
  Value product(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs,
                Type type);
  Value ofHeads(Value x) { return regroup(x, repeats, 1); }
  Value ofGroups(Value x) { return regroup(x, 1, repeats); }
  /// `more` times as many matrices of fewer rows, or `fewer` times fewer.
  Value regroup(Value x, int64_t more, int64_t fewer) {
    ArrayRef<int64_t> s = shapeOf(x);
    return b.reshape(x, {s[0], s[1] * more / fewer, s[2] / more * fewer, s[3]});
  }

  OpTy op;
  LayoutBuilder b;
  Value queries, keys, values, dresult; ///< as matrices
  Type element, wide;                   ///< of operands, and of what is summed
  int64_t repeats;                      ///< heads of a group
  Blocks samples, groups;
};

} // namespace

void LayoutBuilder::setLayouts(Operation *op, LayoutAttr repeated) {
  SmallVector<LayoutAttr> operands;
  for (Type type : op->getOperandTypes())
    operands.push_back(getLayout(type));
  if (!error.empty())
    return;
  ShardingRule rule = mlir::cast<ShardingRuleInterface>(op).getShardingRule();
  SmallVector<LayoutAttr> results;
  if (repeated)
    results.push_back(repeated);
  auto layouts = inferResultLayouts(rule, mesh, operands, error, results);
  if (failed(layouts))
    return;
  for (auto [result, layout] : llvm::zip(op->getResults(), *layouts))
    result.setType(withLayout(result.getType(), layout));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

template <typename OpTy>
Division<OpTy>::Division(OpTy op, int64_t maxBytes)
    : op(op), b(op), element(getElementTypeOrSelf(op.getQueries())),
      wide(getComputeType(element)) {
  AttentionSizes local = op.getSizes();
  repeats = local.heads / local.groups;
  int64_t bytesOfHead =
      local.queries * local.keys * (wide.getIntOrFloatBitWidth() / 8);
  int64_t heads = maxBytes / std::max<int64_t>(bytesOfHead, 1);
  ArrayRef<int64_t> keys = shapeOf(op.getKeys());
  samples = Blocks::divide(keys[0], local.batch,
                           heads / std::max<int64_t>(local.heads, 1));
  // Part of a sample, only if that is what a block is.
  groups = Blocks::divide(keys[2], local.groups,
                          heads < local.heads ? heads / repeats : local.groups);
}

/// Of [batch, rows, heads, width].
template <typename OpTy>
Value Division<OpTy>::getMatrices(Value x, int64_t headsOfGroup) {
  return regroup(b.transpose(x), 1, headsOfGroup);
}

/// The opposite of `getMatrices`.
template <typename OpTy>
Value Division<OpTy>::asTensor(Value matrices, int64_t headsOfGroup) {
  return b.transpose(regroup(matrices, headsOfGroup, 1));
}

/// A block of matrices, of which each group has so many: one of
/// [ranks, blocks, samples, ranks, blocks, groups, rows, width].
template <typename OpTy>
Value Division<OpTy>::getBlock(Value x, int64_t i, int64_t j,
                               int64_t headsOfGroup) {
  if (samples.count * groups.count == 1)
    return x;
  ArrayRef<int64_t> s = shapeOf(x);
  // A mask's dimensions of size 1 are all blocks'.
  Blocks n = s[0] == 1 ? Blocks() : samples;
  Blocks g = s[1] == 1 ? Blocks() : groups;
  if (s[1] != 1)
    g.size *= headsOfGroup;
  Value y = b.reshape(
      x, {n.ranks, n.count, n.size, g.ranks, g.count, g.size, s[2], s[3]});
  if (n.count > 1)
    y = b.slice(y, 1, i);
  if (g.count > 1)
    y = b.slice(y, 4, j);
  return b.reshape(y, {n.ranks * n.size, g.ranks * g.size, s[2], s[3]});
}

/// The opposite of `getBlock`, of the blocks in order.
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
// What a block computes
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
  Value mask = op.getMask();
  Value x = ofHeads(product(getBlock(queries, i, j), getBlock(keys, i, j),
                            false, true, wide));
  x = b.create<MulOp>(x, getScale());
  if (mask)
    x = b.create<AddOp>(x, b.cast(getBlock(mask, i, j, repeats), wide));
  if (op.getCausal()) {
    int64_t n = shapeOf(x).back();
    Value isSeen = b.create<CompareOp>(
        Comparison::ge, b.broadcast(b.count({n, 1}), x), b.count({n}));
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
    // All of such a row's e are 0.
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

/// With the numbers that the op's docs define.
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
  return {product(ds, k, false, false, element),
          product(ds, q, true, false, element),
          product(p, dy, true, false, element)};
}

template <typename OpTy> LogicalResult Division<OpTy>::run() {
  queries = getMatrices(op.getQueries(), repeats);
  keys = getMatrices(op.getKeys(), 1);
  values = getMatrices(op.getValues(), 1);
  if constexpr (std::is_same_v<OpTy, AttentionGradOp>)
    dresult = getMatrices(op.getDresult(), repeats);
  SmallVector<Values> blocks(op->getNumResults());
  for (int64_t i = 0; i < samples.count; ++i)
    for (int64_t j = 0; j < groups.count; ++j)
      for (auto [all, value] : llvm::zip_equal(blocks, computeBlock(i, j)))
        all.push_back(value);
  Values results;
  for (auto [result, parts] : llvm::zip_equal(op->getResults(), blocks)) {
    Value matrices = join(parts);
    if (shapeOf(result).size() == 3) // lse
      results.push_back(b.reshape(matrices, shapeOf(result)));
    else
      results.push_back(
          asTensor(matrices, shapeOf(result)[2] / shapeOf(matrices)[1]));
  }
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
        } else if (failed(Division<OpTy>(op, maxBlock).run())) {
          signalPassFailure();
        }
      }
    return isDivided;
  }
};

} // namespace
