//===- ExpandMath.cpp - math that the processor has no instruction for ----===//
//
// Keeps library calls out of vector code: polynomials for transcendental
// functions of f32, integer arithmetic for random numbers and, if need be, for
// rounding to bf16.
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
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dtc {
#define GEN_PASS_DEF_EXPANDMATH
#include "dtc/Lowering/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct ExpandMath : dtc::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    getOperation()->walk([](PhiloxOp op) {
      op.replaceAllUsesWith(expandPhilox(op));
      op.erase();
    });
    RewritePatternSet patterns(&getContext());
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
