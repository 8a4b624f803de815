//===- PackAttention.cpp - attention on one packed tensor -----------------===//
//
// If queries, keys and values are the three parts of one tensor, attention
// reads that tensor directly, and its gradient makes one tensor. This saves the
// split and the concatenation.
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "Reshapes.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Schedule/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_PACKATTENTION
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The dimension of heads in queries, keys and values.
static constexpr int64_t headsDim = 2;

namespace {

/// The order of the three parts in one tensor: before the heads, or in each
/// head.
struct Packing {
  RankedTensorType type; ///< of rank 5
  bool isByHead;

  bool operator==(const Packing &other) const {
    return type == other.type && isByHead == other.isByHead;
  }
};

/// The operand of packed attention, and the value that its gradient replaces.
struct Packed {
  Value source; ///< the tensor of queries, keys and values
  Packing packing;
  SmallVector<std::pair<AttentionGradOp, ConcatOp>> gradients;
};

} // namespace

static int64_t countElements(ArrayRef<int64_t> shape) {
  return ShapedType::getNumElements(shape);
}

/// The order of parts of type `part`, [batch, tokens, heads, width], in a
/// tensor that is cut into three along `axis`. The dimensions before the axis
/// are repeated for each part.
static std::optional<Packing>
findPacking(RankedTensorType part, RankedTensorType whole, int64_t axis) {
  int64_t outer = countElements(whole.getShape().take_front(axis));
  ArrayRef<int64_t> shape = part.getShape();
  int64_t at; // position of the dimension of size 3 among those of a part
  if (outer == countElements(shape.take_front(headsDim)))
    at = headsDim;
  else if (outer == countElements(shape.take_front(headsDim + 1)))
    at = headsDim + 1;
  else
    return std::nullopt;
  SmallVector<int64_t> packed(shape);
  packed.insert(packed.begin() + at, 3);
  LayoutAttr layout = getLayout(part);
  if (layout) {
    SmallVector<AxisLayout> entries(layout.getEntries());
    for (AxisLayout &entry : entries)
      if (entry.hasDim() && entry.dim >= at)
        ++entry.dim;
    layout = LayoutAttr::getCanonical(layout.getMesh(), entries);
  }
  return Packing{RankedTensorType::get(packed, part.getElementType(), layout),
                 at == headsDim + 1};
}

/// The split whose parts are the queries, keys and values.
static SplitOp findSplit(AttentionOp op) {
  Value operands[] = {op.getQueries(), op.getKeys(), op.getValues()};
  auto split = skipReshapes(operands[0]).getDefiningOp<SplitOp>();
  if (!split || split.getParts().size() != 3)
    return {};
  for (auto [operand, part] : llvm::zip(operands, split.getParts()))
    if (skipReshapes(operand) != part ||
        operand.getType() != op.getQueries().getType())
      return {};
  return split;
}

/// The concatenation of the three gradients, if it is their only reader.
static ConcatOp findConcat(AttentionGradOp op) {
  SmallVector<Value, 3> parts;
  for (Value gradient : op->getResults()) {
    if (!gradient.hasOneUse())
      return {};
    auto reshape = dyn_cast<ReshapeOp>(*gradient.user_begin());
    parts.push_back(reshape ? Value(reshape.getY()) : gradient);
    if (!parts.back().hasOneUse())
      return {};
  }
  auto concat = dyn_cast<ConcatOp>(*parts.front().user_begin());
  return concat && llvm::equal(concat.getParts(), parts) ? concat : ConcatOp();
}

/// None if the operands are not the parts of one tensor, or if another op needs
/// them separately, such as a gradient of blocks.
static std::optional<Packed> findPacked(AttentionOp op, int64_t maxScores) {
  bool isApart = op.getMask() || op.getDivided() ||
                 getScoreBytes(op.getSizes()) > maxScores;
  SplitOp split = isApart ? SplitOp() : findSplit(op);
  if (!split)
    return std::nullopt;
  auto part = cast<RankedTensorType>(op.getQueries().getType());
  std::optional<Packing> packing =
      findPacking(part, split.getX().getType(), split.getAxis());
  if (!packing)
    return std::nullopt;
  Packed packed{split.getX(), *packing, {}};
  for (Operation *user : op.getLse().getUsers()) {
    auto gradient = dyn_cast<AttentionGradOp>(user);
    if (!gradient || gradient.getMask() ||
        gradient->getOperands().take_front(3) != op->getOperands())
      return std::nullopt;
    ConcatOp concat = findConcat(gradient);
    if (!concat)
      return std::nullopt;
    RankedTensorType joined = concat.getY().getType();
    if (joined.getElementType() != part.getElementType() ||
        !(packing == findPacking(part, joined, concat.getAxis())))
      return std::nullopt;
    packed.gradients.push_back({gradient, concat});
  }
  auto isReplaced = [&](Operation *user) {
    return user == op || llvm::any_of(packed.gradients, [&](auto &pair) {
             return user == pair.first;
           });
  };
  for (Value operand : {op.getQueries(), op.getKeys(), op.getValues()}) {
    Value own = skipReshapes(operand);
    if (!llvm::all_of(operand.getUsers(), isReplaced) ||
        (own != operand && !own.hasOneUse()))
      return std::nullopt;
  }
  return packed;
}

static void pack(AttentionOp op, const Packed &packed) {
  OpBuilder b(op);
  bool isByHead = packed.packing.isByHead;
  Value source =
      ReshapeOp::create(b, op.getLoc(), packed.packing.type, packed.source);
  auto forward =
      PackedAttentionOp::create(b, op.getLoc(), op.getResultTypes(), source,
                                op.getScale(), op.getCausal(), isByHead);
  op->replaceAllUsesWith(forward);
  for (auto [gradient, concat] : packed.gradients) {
    b.setInsertionPoint(gradient);
    Value together = PackedAttentionGradOp::create(
        b, gradient.getLoc(), packed.packing.type, source, gradient.getResult(),
        gradient.getLse(), gradient.getDresult(), gradient.getScale(),
        gradient.getCausal(), isByHead);
    concat.getY().replaceAllUsesWith(
        ReshapeOp::create(b, concat.getLoc(), concat.getType(), together));
  }
}

namespace {

struct PackAttention : dtc::impl::PackAttentionBase<PackAttention> {
  using PackAttentionBase::PackAttentionBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    for (auto op : llvm::to_vector(step->getOps<AttentionOp>()))
      if (std::optional<Packed> packed = findPacked(op, maxScores))
        pack(op, *packed);
    eraseDeadOps(*step);
  }
};

} // namespace
