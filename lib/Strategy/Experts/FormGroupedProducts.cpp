//===- FormGroupedProducts.cpp - form products with chosen matrices -------===//
//
// ONNX has no product of rows by chosen matrices, so exporters gather a matrix
// for each row. The single op needs no gathered matrices.
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Strategy/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

namespace dtc {
#define GEN_PASS_DEF_FORMGROUPEDPRODUCTS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

namespace {

/// The matrices of a product: a matrix of a stack for each index.
struct Matrices {
  GatherOp gather;
  /// Where an index is inside of the stack, [.., 1, 1], and NaN for elsewhere;
  /// null if the importer knows that all are.
  Value isInside, outside;
};

} // namespace

/// Finds the gather that made the matrices of a product. Constant indices
/// choose nothing.
static Matrices findMatrices(Value operand) {
  Matrices matrices;
  Value value = operand;
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  if (auto select = value.getDefiningOp<SelectOp>()) {
    auto wanted = llvm::to_vector(shapeOf(select));
    if (wanted.size() < 3 || shapeOf(select.getOnTrue()) != ArrayRef(wanted))
      return {};
    wanted.back() = wanted[wanted.size() - 2] = 1;
    std::optional<double> number = getNumber(select.getOnFalse());
    if (!number || !std::isnan(*number) || // a product of NaN is NaN
        shapeOf(select.getCondition()) != ArrayRef(wanted))
      return {};
    matrices.isInside = select.getCondition();
    matrices.outside = select.getOnFalse();
    value = select.getOnTrue();
  }
  auto gather = value.getDefiningOp<GatherOp>();
  if (!gather || gather.getStarts() || gather.getBatchDims() != 0 ||
      shapeOf(gather.getTable()).size() != 3 ||
      getConstant(gather.getIndices()) ||
      shapeOf(operand).take_back(2) != shapeOf(gather).take_back(2))
    return {};
  matrices.gather = gather;
  return matrices;
}

namespace {

class FormPattern : public OpRewritePattern<MatMulOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override {
    for (bool isOnLeft : {false, true}) {
      Matrices found = findMatrices(isOnLeft ? op.getLhs() : op.getRhs());
      if (!found.gather)
        continue;
      form(op, found, isOnLeft, rewriter);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "reads no gathered matrices");
  }

private:
  /// Replaces the product. If the matrices are on its left, its result is that
  /// of the transposed product, transposed.
  static void form(MatMulOp op, const Matrices &matrices, bool isOnLeft,
                   PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    GatherOp gather = matrices.gather;
    auto reshape = [&](Value x, ArrayRef<int64_t> shape) -> Value {
      return rewriter.createOrFold<ReshapeOp>(
          loc, RankedTensorType::get(shape, getElementTypeOrSelf(x)), x);
    };
    auto turn = [&](Value x) -> Value {
      auto order =
          llvm::to_vector(llvm::seq<int64_t>(0, int64_t(shapeOf(x).size())));
      std::swap(order.back(), order[order.size() - 2]);
      return TransposeOp::create(rewriter, loc, x, order);
    };
    Value rows = isOnLeft ? op.getRhs() : op.getLhs();
    if (isOnLeft ? !op.getTransposeRhs() : op.getTransposeLhs())
      rows = turn(rows);
    ArrayRef<int64_t> shape = shapeOf(rows);
    int64_t count = shape[shape.size() - 2], inner = shape.back();
    int64_t products = gather.getIndices().getType().getNumElements();

    // Each index is that of `count` rows.
    auto repeat = [&](Value x) -> Value {
      x = reshape(x, {products, 1});
      if (count == 1)
        return x;
      auto type =
          RankedTensorType::get({products, count}, getElementTypeOrSelf(x));
      return BroadcastOp::create(rewriter, loc, type, x);
    };
    Value indices = reshape(repeat(gather.getIndices()), {products * count});
    bool isTransposed = isOnLeft ? !op.getTransposeLhs() : op.getTransposeRhs();
    Value stack = gather.getTable();
    if (auto transpose = stack.getDefiningOp<TransposeOp>();
        transpose && transpose.getPermutation() == ArrayRef<int64_t>{0, 2, 1}) {
      stack = transpose.getX();
      isTransposed = !isTransposed;
    }
    Value result = GroupedMatMulOp::create(
        rewriter, loc, reshape(rows, {products * count, inner}), stack, indices,
        isTransposed);
    if (matrices.isInside)
      result = SelectOp::create(
          rewriter, loc,
          reshape(repeat(matrices.isInside), {products * count, 1}), result,
          matrices.outside);
    auto split = llvm::to_vector(shape.drop_back());
    split.push_back(shapeOf(result).back());
    result = reshape(result, split);
    rewriter.replaceOp(op, isOnLeft ? turn(result) : result);
  }
};

struct FormGroupedProducts
    : dtc::impl::FormGroupedProductsBase<FormGroupedProducts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FormPattern>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
