//===- ExpandMath.cpp - math functions as arithmetic ----------------------===//
//
// Keeps library calls out of vector code. Expands transcendental functions of
// f32 to polynomials, random numbers to integer arithmetic and, on targets
// without such an instruction, rounding to bf16 to integer arithmetic.
//
//===----------------------------------------------------------------------===//

#include "ExpandDouble.h"
#include "ExpandPhilox.h"
#include "dtc/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dtc {
#define GEN_PASS_DEF_EXPANDMATH
#include "dtc/Lowering/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// exp(x) = 2^h (1 + l ln(2)), where h is x log2(e) rounded to f32, and l the
/// rounding error. Without the term of l, the relative error would be 2^-18 for
/// the largest x.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto constant = [&](double value) -> Value {
      TypedAttr attribute = b.getF32FloatAttr(static_cast<float>(value));
      if (auto vector = dyn_cast<VectorType>(type))
        attribute = DenseElementsAttr::get(vector, Attribute(attribute));
      return arith::ConstantOp::create(b, attribute);
    };
    // log2(e) as a sum of two parts.
    constexpr double log2e = 1.4426950408889634;
    constexpr double high = static_cast<float>(log2e), low = log2e - high;
    // Clamps x: beyond these limits, exp is 0 or infinite in f32. An infinite x
    // has no rounding error.
    Value x = arith::MaximumFOp::create(b, op.getOperand(), constant(-105));
    x = arith::MinimumFOp::create(b, x, constant(89));
    Value h = arith::MulFOp::create(b, x, constant(high));
    Value l =
        math::FmaOp::create(b, x, constant(high), arith::NegFOp::create(b, h));
    l = math::FmaOp::create(b, x, constant(low), l);
    Value factor = math::FmaOp::create(b, l, constant(1 / log2e), constant(1));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, math::Exp2Op::create(b, h),
                                               factor);
    return success();
  }
};

struct ExpandMath : dtc::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    getOperation()->walk([](PhiloxOp op) {
      op.replaceAllUsesWith(expandPhilox(op));
      op.erase();
    });
    RewritePatternSet patterns(&getContext());
    if (hasExp2)
      patterns.add<ExpandExp>(&getContext(), /*benefit=*/2);
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained(
          {math::ExpOp::getOperationName(), math::LogOp::getOperationName(),
           math::TanhOp::getOperationName(), math::ErfOp::getOperationName(),
           math::SinOp::getOperationName(), math::CosOp::getOperationName(),
           math::AtanOp::getOperationName()},
          name);
    });
    if (expandDouble)
      populateExpandDoublePatterns(patterns);
    if (!hasBf16)
      arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
