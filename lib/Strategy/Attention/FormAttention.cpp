//===- FormAttention.cpp - form attention ops -----------------------------===//
//
// Exporters write attention as two products with a softmax between. A library,
// or products (DivideAttention), computes the single op in blocks, so that the
// matrix of all scores is never stored.
//
//===----------------------------------------------------------------------===//

#include "GuardedSoftmax.h"
#include "KnownElements.h"
#include "Numbers.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace dtc {
#define GEN_PASS_DEF_FORMATTENTION
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// Returns x for x * number or x / number of the same shape, and multiplies
/// `scale` by the factor.
static Value takeFactor(Value value, double &scale) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<MulOp, DivOp>(op))
    return {};
  for (unsigned i = 0, e = isa<MulOp>(op) ? 2 : 1; i < e; ++i)
    if (auto number = getNumber(op->getOperand(1 - i));
        number && op->getOperand(i).getType() == value.getType()) {
      scale *= isa<MulOp>(op) ? *number : 1 / *number;
      return op->getOperand(i);
    }
  return {};
}

/// Whether a score vanishes when `fill` is added to it, so that adding and
/// replacing are equal. Scores are at most 2^12.
static bool isAbsorbing(double fill, Type element) {
  if (element.isF32())
    return fill < 0 && float(fill) + 4096.0f == float(fill);
  return fill < 0 && fill + 4096 == fill;
}

namespace {

/// Queries, keys or values: a tensor with its elements in the order [batch,
/// heads or groups, rows, width], or [.., width, rows].
struct Heads {
  Value source;
  bool isSwapped = false;
  int64_t repeats = 1; ///< number of heads for each group of the source

  /// Builds the operand of attention: [batch, rows, groups, width].
  Value build(OpBuilder &b, Location loc, int64_t batch, int64_t heads,
              int64_t rows, int64_t width) const {
    SmallVector<int64_t> shape = {batch, heads / repeats, rows, width};
    if (isSwapped)
      std::swap(shape[2], shape[3]);
    Value x = source;
    if (shapeOf(x) != ArrayRef(shape))
      x = ReshapeOp::create(
          b, loc, RankedTensorType::get(shape, getElementTypeOrSelf(x)), x);
    return isSwapped
               ? TransposeOp::create(b, loc, x, ArrayRef<int64_t>{0, 3, 1, 2})
               : TransposeOp::create(b, loc, x, ArrayRef<int64_t>{0, 2, 1, 3});
  }
};

/// softmax(scale * queries keys^T + mask) values.
struct Match {
  Heads queries, keys, values;
  double scale = 1;
  Value mask;       ///< added to the scores, if any
  Value condition;  ///< scores are kept where it is `kept`
  bool kept = true; ///< other scores are `fill`
  double fill = 0;
  // Set when the mask is read.
  DenseElementsAttr constant; ///< numbers added to the scores, if all are known
  bool causal = false;
  bool isMasked = false; ///< has a mask of another form
  int64_t batch, heads, rows, numKeys, width, valueWidth;
};

class FormPattern : public OpRewritePattern<MatMulOp> {
public:
  FormPattern(MLIRContext *context, const dtc::FormAttentionOptions &limits)
      : OpRewritePattern(context), limits(limits) {}
  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override;

private:
  bool isWithinLimits(const Match &match) const;

  dtc::FormAttentionOptions limits;
};

} // namespace

/// Finds the softmax whose only use is the left side of a product, perhaps with
/// zeros for rows that are NaN because they have no key.
static SoftmaxOp findSoftmax(MatMulOp product) {
  Value p = product.getLhs();
  if (!p.hasOneUse() || product.getTransposeLhs())
    return {};
  if (auto softmax = p.getDefiningOp<SoftmaxOp>())
    return softmax;
  auto select = p.getDefiningOp<SelectOp>();
  SoftmaxOp softmax = select ? findGuardedSoftmax(select) : SoftmaxOp();
  if (!softmax || !select.getCondition().hasOneUse())
    return {};
  Operation *isNan = select.getCondition().getDefiningOp();
  for (Operation *user : softmax->getUsers())
    if (user != select && user != isNan)
      return {};
  return softmax;
}

/// Splits the scores into their product, scale and mask.
static MatMulOp findScores(Value scores, Match &match) {
  while (scores.hasOneUse()) {
    if (auto product = scores.getDefiningOp<MatMulOp>())
      return product;
    if (Value x = takeFactor(scores, match.scale)) {
      scores = x;
      continue;
    }
    if (match.mask || match.condition || match.scale != 1)
      return {};
    Type type = scores.getType();
    if (auto add = scores.getDefiningOp<AddOp>()) {
      // The larger side has the scores. If both are equal, either may.
      bool isFirst = add.getLhs().getType() == type &&
                     !getConstant(add.getLhs()) &&
                     (add.getRhs().getType() != type ||
                      !add.getRhs().getDefiningOp<MatMulOp>());
      match.mask = isFirst ? add.getRhs() : add.getLhs();
      scores = isFirst ? add.getLhs() : add.getRhs();
    } else if (auto select = scores.getDefiningOp<SelectOp>()) {
      match.condition = select.getCondition();
      match.kept = !getNumber(select.getOnTrue());
      Value filled = match.kept ? select.getOnFalse() : select.getOnTrue();
      std::optional<double> fill = getNumber(filled);
      if (!fill || !isAbsorbing(*fill, getElementTypeOrSelf(type)))
        return {};
      match.fill = *fill;
      scores = match.kept ? select.getOnTrue() : select.getOnFalse();
    } else {
      return {};
    }
    if (scores.getType() != type)
      return {};
  }
  return {};
}

/// Reads a factor of a product: moves scalars into the scale, and a transpose
/// that only exchanges the last dimensions into `isSwapped`.
static Heads readHeads(Value value, bool isSwapped, double &scale) {
  while (Value x = takeFactor(value, scale))
    value = x;
  // reshape(transpose(x)), where the reshape changes only leading dimensions.
  auto reshape = value.getDefiningOp<ReshapeOp>();
  auto transpose =
      (reshape ? reshape.getX() : value).getDefiningOp<TransposeOp>();
  if (isSwapped && transpose) {
    auto expected = llvm::to_vector(
        llvm::seq<int64_t>(0, transpose.getPermutation().size()));
    std::swap(expected.back(), expected[expected.size() - 2]);
    if (transpose.getPermutation() == ArrayRef(expected) &&
        shapeOf(value).take_back(2) == shapeOf(transpose.getY()).take_back(2))
      return {transpose.getX(), false};
  }
  return {value, isSwapped};
}

/// Finds keys or values that are repeated for the heads of a group: [batch,
/// groups, 1, rows, width] broadcast to [batch, groups, repeats, rows, width],
/// perhaps with more dimensions of size 1.
static Heads findGroups(const Heads &heads, int64_t batch) {
  Value x = heads.source;
  while (auto reshape = x.getDefiningOp<ReshapeOp>())
    x = reshape.getX();
  auto broadcast = x.getDefiningOp<BroadcastOp>();
  if (!broadcast || shapeOf(broadcast.getX()).size() != shapeOf(x).size())
    return heads;
  // The only dimension that differs, before rows and width.
  int64_t repeats = 1, outer = 1;
  for (auto [dim, from, to] :
       llvm::enumerate(shapeOf(broadcast.getX()), shapeOf(x))) {
    if (from == to) {
      outer *= repeats == 1 ? to : 1;
      continue;
    }
    ArrayRef<int64_t> inner = shapeOf(x).drop_front(dim + 1);
    auto isOne = [](int64_t size) { return size == 1; };
    if (repeats != 1 || from != 1 || outer % batch || inner.size() < 2 ||
        inner.take_back(2) != shapeOf(heads.source).take_back(2) ||
        !llvm::all_of(inner.drop_back(2), isOne))
      return heads;
    repeats = to;
  }
  return {broadcast.getX(), heads.isSwapped, repeats};
}

/// Whether a value depends on a parameter, which would need a gradient.
static bool dependsOnParameter(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(values[i])) {
      if (getArgString(argument, attr::parameter))
        return true;
    } else {
      auto operands = values[i].getDefiningOp()->getOperands();
      values.insert(operands.begin(), operands.end());
    }
  }
  return false;
}

/// Whether a constant of [.., n, n] is 0 up to the diagonal and absorbs the
/// scores after it.
static bool isCausal(DenseElementsAttr mask, int64_t n) {
  ArrayRef<int64_t> shape = mask.getType().getShape();
  if (mask.getNumElements() != n * n || shape.size() < 2 ||
      shape.take_back(2) != ArrayRef({n, n}))
    return false;
  auto isCausal = [&](auto elements) {
    Type element = mask.getElementType();
    return llvm::all_of(llvm::enumerate(elements), [&](auto place) {
      int64_t row = place.index() / n, column = place.index() % n;
      return column <= row ? place.value() == 0
                           : isAbsorbing(place.value(), element);
    });
  };
  if (mask.getElementType().isF32())
    return isCausal(mask.getValues<float>());
  return mask.getElementType().isF64() && isCausal(mask.getValues<double>());
}

/// The same for a mask given by the distance of a query from a key: later keys
/// have negative distances.
static bool isCausal(ArrayRef<double> diagonals, int64_t n, Type element) {
  return llvm::all_of(llvm::enumerate(diagonals), [&](auto place) {
    return int64_t(place.index()) >= n - 1
               ? place.value() == 0
               : isAbsorbing(place.value(), element);
  });
}

/// Converts a constant condition to a mask that is added to the scores.
static DenseElementsAttr makeMask(DenseElementsAttr condition,
                                  const Match &match, FloatType element) {
  SmallVector<Attribute> numbers;
  for (bool isSet : condition.getValues<bool>())
    numbers.push_back(
        FloatAttr::get(element, isSet == match.kept ? 0 : match.fill));
  return DenseElementsAttr::get(
      RankedTensorType::get(condition.getType().getShape(), element), numbers);
}

/// Temporary attribute of an op that makes a mask: its elements, its numbers by
/// distance if it is causal, or a mark that it is computed. All layers share
/// one mask, so the pass evaluates it once.
static constexpr StringLiteral knownAttrName = "dtc.known";

/// Null if the elements are not known, or known in another form.
template <typename AttrTy> static AttrTy getKnown(Value mask) {
  Operation *op = mask.getDefiningOp();
  return op ? op->getAttrOfType<AttrTy>(knownAttrName) : AttrTy();
}

/// Whether a mask of these numbers by distance hides later keys.
static bool hidesLaterKeys(const Match &match, ArrayRef<double> diagonals,
                           int64_t n, Type element) {
  auto numbers = llvm::to_vector(diagonals);
  if (!match.mask)
    for (double &number : numbers)
      number = (number != 0) == match.kept ? 0 : match.fill;
  return isCausal(numbers, n, element);
}

static void annotateMask(SoftmaxOp softmax, KnownElements &known) {
  Match match;
  if (!findScores(softmax.getOperand(), match))
    return;
  Value mask = match.mask ? match.mask : match.condition;
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (!op || op->hasAttr(knownAttrName))
    return;
  Builder b(op->getContext());
  Attribute elements = b.getUnitAttr();
  std::optional<std::vector<double>> diagonals;
  if (!known.getFew(mask))
    diagonals = known.getDiagonals(mask);
  ArrayRef<int64_t> scores = shapeOf(softmax.getOperand());
  if (diagonals && scores.back() == scores[scores.size() - 2] &&
      hidesLaterKeys(match, *diagonals, scores.back(),
                     getElementTypeOrSelf(softmax.getOperand())))
    elements = b.getDenseF64ArrayAttr(*diagonals);
  else if (diagonals)
    KnownElements::warnOfComputed(op);
  else if (DenseElementsAttr all = known.get(mask))
    elements = all;
  op->setAttr(knownAttrName, elements);
}

static void readMask(Match &match, FloatType element) {
  DenseElementsAttr &constant = match.constant;
  if (match.mask)
    constant = getKnown<DenseElementsAttr>(match.mask);
  else if (!match.condition)
    return;
  else if (auto condition = getKnown<DenseElementsAttr>(match.condition))
    constant = makeMask(condition, match, element);
  if (match.rows == match.numKeys) {
    auto diagonals =
        getKnown<DenseF64ArrayAttr>(match.mask ? match.mask : match.condition);
    match.causal = diagonals
                       ? hidesLaterKeys(match, diagonals, match.rows, element)
                       : constant && isCausal(constant, match.rows);
  }
  match.isMasked =
      !match.causal && !(constant && constant.isSplat() &&
                         constant.getSplatValue<APFloat>().isZero());
}

/// Builds the mask that is added to the scores: a constant if all of it is
/// known, else ops. Null if there is none.
static Value buildMask(const Match &match, FloatType element, OpBuilder &b,
                       Location loc) {
  if (!match.isMasked)
    return {};
  DenseElementsAttr constant = match.constant;
  Value mask = constant ? Value() : match.mask;
  auto number = [&](double x) { return createNumber(b, loc, element, x); };
  if (!mask)
    mask = constant
               ? Value(ConstantOp::create(b, loc, constant.getType(), constant))
           : match.kept
               ? Value(SelectOp::create(b, loc, match.condition, number(0),
                                        number(match.fill)))
               : Value(SelectOp::create(b, loc, match.condition,
                                        number(match.fill), number(0)));
  // [batch, heads, rows, keys]; scores of rank 3 have no heads.
  auto shape = llvm::to_vector(shapeOf(mask));
  if (match.heads == 1 && shape.size() == 3)
    shape.insert(shape.begin() + 1, 1);
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  return ReshapeOp::create(b, loc, RankedTensorType::get(shape, element), mask);
}

bool FormPattern::isWithinLimits(const Match &match) const {
  auto fits = [&](int64_t width) {
    return width <= limits.maxWidth && width % limits.widthMultiple == 0;
  };
  return fits(match.width) && fits(match.valueWidth);
}

LogicalResult FormPattern::matchAndRewrite(MatMulOp op,
                                           PatternRewriter &rewriter) const {
  Match match;
  SoftmaxOp softmax = findSoftmax(op);
  MatMulOp scores =
      softmax ? findScores(softmax.getOperand(), match) : MatMulOp();
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  int64_t rank = shape.size();
  if (!scores || rank < 3 || rank > 4 || scores.getTransposeLhs())
    return failure();
  // All operands need equal leading dimensions: products do not broadcast.
  for (Value value :
       {Value(scores.getLhs()), Value(scores.getRhs()), Value(op.getRhs())})
    if (shapeOf(value).drop_back(2) != shape.drop_back(2))
      return failure();
  Value masked = match.mask ? match.mask : match.condition;
  if (masked && (int64_t(shapeOf(masked).size()) > rank ||
                 shapeOf(masked).empty() || dependsOnParameter(masked)))
    return failure();
  match.batch = shape[0];
  match.heads = rank == 4 ? shape[1] : 1;
  match.rows = shape[rank - 2];
  match.numKeys = shapeOf(scores.getResult()).back();
  match.width = shapeOf(scores.getLhs()).back();
  match.valueWidth = shape.back();
  auto element = cast<FloatType>(getElementTypeOrSelf(op.getResult()));
  if (masked && shapeOf(masked).back() != match.numKeys &&
      getNumber(masked) != 0)
    return failure();
  readMask(match, element);
  match.queries = readHeads(scores.getLhs(), false, match.scale);
  match.keys =
      readHeads(scores.getRhs(), !scores.getTransposeRhs(), match.scale);
  double one = 1;
  match.values = readHeads(op.getRhs(), op.getTransposeRhs(), one);
  if (one != 1)
    match.values = {op.getRhs(), op.getTransposeRhs()};
  Heads keys = findGroups(match.keys, match.batch);
  Heads values = findGroups(match.values, match.batch);
  if (rank == 4 && keys.repeats == values.repeats) {
    match.keys = keys;
    match.values = values;
  }

  Location loc = op.getLoc();
  Value mask = buildMask(match, element, rewriter, loc);
  auto build = [&](const Heads &heads, int64_t rows, int64_t width) {
    return heads.build(rewriter, loc, match.batch, match.heads, rows, width);
  };
  auto unitIf = [&](bool isSet) {
    return isSet ? rewriter.getUnitAttr() : UnitAttr();
  };
  auto attention = AttentionOp::create(
      rewriter, loc, build(match.queries, match.rows, match.width),
      build(match.keys, match.numKeys, match.width),
      build(match.values, match.numKeys, match.valueWidth), mask,
      rewriter.getF64FloatAttr(match.scale), unitIf(match.causal),
      unitIf(!isWithinLimits(match)));
  Value result = TransposeOp::create(rewriter, loc, attention.getResult(),
                                     ArrayRef<int64_t>{0, 2, 1, 3});
  if (rank == 3)
    result = ReshapeOp::create(rewriter, loc, op.getResult().getType(), result);
  rewriter.replaceOp(op, result);
  return success();
}

namespace {
struct FormAttention : dtc::impl::FormAttentionBase<FormAttention> {
  using FormAttentionBase::FormAttentionBase;

  void runOnOperation() override {
    KnownElements known;
    getOperation()->walk(
        [&](SoftmaxOp softmax) { annotateMask(softmax, known); });
    RewritePatternSet patterns(&getContext());
    patterns.add<FormPattern>(&getContext(),
                              FormAttentionOptions{maxWidth, widthMultiple});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([](Operation *op) { op->removeAttr(knownAttrName); });
  }
};
} // namespace
