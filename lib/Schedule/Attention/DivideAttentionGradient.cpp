//===- DivideAttentionGradient.cpp - gradients of long attention ----------===//
//
// A library with a deterministic gradient of attention keeps 16 bits for each
// score of a head. If those of a group of heads exceed its workspace, the pass
// computes gradients of blocks of queries and keys. The forward pass has stored
// the lse of each query, so blocks do not depend on each other.
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "LayoutBuilder.h"
#include "dtc/Runtime/DeviceReserve.h"
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
  return scoreBytesOf(sizes.queries, sizes.keys,
                      sizes.heads / std::max<int64_t>(sizes.groups, 1));
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
  /// Blocks share the slices of their queries and keys.
  Value slice(Value x, int64_t axis, Tokens tokens) {
    Value &known = slices[{x, {tokens.first, tokens.size}}];
    if (!known)
      known = b.slice(x, axis, tokens.first, tokens.size);
    return known;
  }
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
  int64_t smallestBytes = 0; ///< bytes of the smallest block that was tried
  llvm::DenseMap<std::pair<Value, std::pair<int64_t, int64_t>>, Value> slices;
};

} // namespace

static SmallVector<Tokens> divide(int64_t size, int64_t count) {
  SmallVector<Tokens> ranges;
  int64_t block = llvm::divideCeil(size, count);
  for (int64_t first = 0; first < size; first += block)
    ranges.push_back({first, std::min(block, size - first)});
  return ranges;
}

/// Chooses the largest blocks whose scores fit; divides the longer of both
/// dimensions first. Blocks of a causal attention have as many queries as keys,
/// and blocks whose keys are all hidden are omitted. Returns false if none fit;
/// `smallestBytes` is then the smallest size tried.
bool GradientDivision::chooseBlocks(int64_t maxBytes) {
  int64_t queries = shapeOf(op.getQueries())[tokenDim];
  int64_t keys = shapeOf(op.getKeys())[tokenDim];
  AttentionSizes block = op.getSizes();
  bool isShared = block.queries != queries; // by ranks
  int64_t ofQueries = 1, ofKeys = 1;
  while ((smallestBytes = getScoreBytes(block)) > maxBytes) {
    bool cutsQueries = !isShared && block.queries > 1 &&
                       (op.getCausal() || block.queries >= block.keys ||
                        block.keys <= scoreTile);
    if (cutsQueries)
      block.queries = llvm::divideCeil(queries, ++ofQueries);
    if (!cutsQueries || op.getCausal())
      block.keys = llvm::divideCeil(keys, ++ofKeys);
    if (block.keys <= 1 && (isShared || block.queries <= 1))
      return false;
  }
  queryBlocks = divide(queries, ofQueries);
  keyBlocks = divide(keys, ofKeys);
  return true;
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
  auto ofQueries = [&](Value x) { return slice(x, tokenDim, queries); };
  auto ofKeys = [&](Value x) { return slice(x, tokenDim, keys); };
  // A block on the diagonal is causal; queries of the others see all keys.
  bool isCausal = op.getCausal() && keys.first == queries.first;
  return b.createOp<AttentionGradOp>(
      ofQueries(op.getQueries()), ofKeys(op.getKeys()), ofKeys(op.getValues()),
      sliceMask(queries, keys), ofQueries(op.getResult()),
      slice(op.getLse(), 2, queries), ofQueries(op.getDresult()), op.getScale(),
      isCausal, /*divided=*/false);
}

/// Returns the number of blocks.
FailureOr<int64_t> GradientDivision::run(int64_t maxBytes) {
  if (!chooseBlocks(maxBytes))
    return op.emitOpError("needs ")
           << smallestBytes
           << " bytes for the scores of 128 queries and keys, but half of "
              "--workspace is "
           << maxBytes << "; use --workspace " << 2 * smallestBytes
           << " or more";
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
