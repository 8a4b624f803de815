//===- DivideAttentionGradient.cpp - long attention on a library ----------===//
//
// A library whose gradient of attention is deterministic keeps a number of 16
// bits for each score of a head. Where those of a group of heads exceed its
// workspace, the gradient is that of blocks of queries and keys: since the
// forward pass has stored each query's lse, a block needs no other block.
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "LayoutBuilder.h"
#include "dtc/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace dtc {
#define GEN_PASS_DEF_DIVIDEATTENTIONGRADIENT
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

int64_t dtc::getScoreBytes(const AttentionSizes &sizes) {
  constexpr uint64_t tile = 128; // of the library's kernels
  return llvm::alignTo(sizes.queries, tile) * llvm::alignTo(sizes.keys, tile) *
         2 * (sizes.heads / std::max<int64_t>(sizes.groups, 1));
}

namespace {

/// A range of queries or keys.
struct Tokens {
  int64_t first, size;
};

class GradientDivision {
public:
  explicit GradientDivision(AttentionGradOp op)
      : op(op), b(op), element(getElementTypeOrSelf(op.getQueries())) {}

  FailureOr<int64_t> run(int64_t maxBytes);

private:
  bool chooseBlocks(int64_t maxBytes);
  AttentionGradOp createBlock(Tokens queries, Tokens keys);
  Value sliceMask(Tokens queries, Tokens keys);
  void add(Value &sum, Value part) {
    part = b.cast(part, getComputeType(element));
    sum = sum ? b.create<AddOp>(sum, part) : part;
  }
  Value join(ArrayRef<Value> sums) {
    return b.cast(b.concat(sums, tokenDim), element);
  }

  static constexpr int64_t tokenDim = 1; // of queries, keys and values

  AttentionGradOp op;
  LayoutBuilder b;
  Type element;
  SmallVector<Tokens> queryBlocks, keyBlocks;
};

} // namespace

static SmallVector<Tokens> divide(int64_t size, int64_t count) {
  SmallVector<Tokens> ranges;
  int64_t block = llvm::divideCeil(size, count);
  for (int64_t first = 0; first < size; first += block)
    ranges.push_back({first, std::min(block, size - first)});
  return ranges;
}

/// The fewest blocks whose scores fit, with as many of queries as of keys:
/// those of a causal attention that hide all their keys are left out. False if
/// ranks share the queries so that none fit.
bool GradientDivision::chooseBlocks(int64_t maxBytes) {
  int64_t queries = shapeOf(op.getQueries())[tokenDim];
  int64_t keys = shapeOf(op.getKeys())[tokenDim];
  bool isShared = op.getSizes().queries != queries;
  for (int64_t count = 2; count <= std::max(queries, keys); ++count) {
    AttentionSizes block = op.getSizes();
    if (!isShared)
      block.queries = llvm::divideCeil(queries, count);
    block.keys = llvm::divideCeil(keys, count);
    if (getScoreBytes(block) > maxBytes)
      continue;
    queryBlocks = divide(queries, isShared ? 1 : count);
    keyBlocks = divide(keys, count);
    return true;
  }
  return false;
}

Value GradientDivision::sliceMask(Tokens queries, Tokens keys) {
  Value mask = op.getMask();
  if (!mask)
    return mask;
  if (shapeOf(mask)[2] != 1)
    mask = b.slice(mask, 2, queries.first, queries.size);
  return b.slice(mask, 3, keys.first, keys.size);
}

AttentionGradOp GradientDivision::createBlock(Tokens queries, Tokens keys) {
  auto ofQueries = [&](Value x) {
    return b.slice(x, tokenDim, queries.first, queries.size);
  };
  auto ofKeys = [&](Value x) {
    return b.slice(x, tokenDim, keys.first, keys.size);
  };
  // Blocks of both begin at the same numbers, so that others see all keys.
  bool isCausal = op.getCausal() && keys.first == queries.first;
  return b.createOp<AttentionGradOp>(
      ofQueries(op.getQueries()), ofKeys(op.getKeys()), ofKeys(op.getValues()),
      sliceMask(queries, keys), ofQueries(op.getResult()),
      b.slice(op.getLse(), 2, queries.first, queries.size),
      ofQueries(op.getDresult()), op.getScale(), isCausal, /*divided=*/false);
}

/// Returns the number of blocks.
FailureOr<int64_t> GradientDivision::run(int64_t maxBytes) {
  if (!chooseBlocks(maxBytes))
    return op.emitOpError("needs ")
           << getScoreBytes(op.getSizes())
           << " bytes of workspace for each group of heads, and the library "
              "has "
           << maxBytes
           << "; use fewer ranks of --tp with --sp, or --precision fp32";
  int64_t count = 0;
  SmallVector<Value> dqueries(queryBlocks.size()), dkeys(keyBlocks.size()),
      dvalues(keyBlocks.size());
  for (auto [i, queries] : llvm::enumerate(queryBlocks))
    for (auto [j, keys] : llvm::enumerate(keyBlocks)) {
      if (op.getCausal() && keys.first > queries.first)
        break;
      ++count;
      AttentionGradOp gradient = createBlock(queries, keys);
      add(dqueries[i], gradient.getDqueries());
      add(dkeys[j], gradient.getDkeys());
      add(dvalues[j], gradient.getDvalues());
    }
  Value results[] = {join(dqueries), join(dkeys), join(dvalues)};
  if (!b.getError().empty())
    return op.emitOpError("cannot be divided: ") << b.getError();
  if (ValueRange(results).getTypes() != op->getResultTypes())
    return op.emitOpError("cannot be divided: its layouts are not those of its "
                          "blocks");
  op->replaceAllUsesWith(ValueRange(results));
  op->erase();
  return count;
}

namespace {

struct DivideAttentionGradient
    : dtc::impl::DivideAttentionGradientBase<DivideAttentionGradient> {
  using DivideAttentionGradientBase::DivideAttentionGradientBase;

  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp function) {
      int64_t most = 0;
      for (auto op : llvm::to_vector(function.getOps<AttentionGradOp>())) {
        if (op.getDivided() || getScoreBytes(op.getSizes()) <= maxScores)
          continue;
        FailureOr<int64_t> count = GradientDivision(op).run(maxScores);
        if (failed(count))
          return signalPassFailure();
        most = std::max(most, *count);
      }
      if (most)
        function->setAttr(attr::attentionBlocks,
                          Builder(function).getI64IntegerAttr(most));
    });
  }
};

} // namespace
