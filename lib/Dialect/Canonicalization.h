//===- Canonicalization.h - the normal form of a model ----------*- C++ -*-===//
//
// Canonicalization patterns simplify the model. They apply only before values
// have layouts: after that, the plan decides where an op stands.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DIALECT_CANONICALIZATION_H
#define DTC_LIB_DIALECT_CANONICALIZATION_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/PatternMatch.h"

namespace dtc {

/// Whether no operand and no result has a layout.
inline bool isGlobal(mlir::Operation *op) {
  auto hasLayout = [](mlir::Type type) { return bool(getLayout(type)); };
  return llvm::none_of(op->getOperandTypes(), hasLayout) &&
         llvm::none_of(op->getResultTypes(), hasLayout);
}

/// A pattern for ops without layouts.
template <typename OpType>
struct GlobalPattern : mlir::OpRewritePattern<OpType> {
  using mlir::OpRewritePattern<OpType>::OpRewritePattern;

  virtual mlir::LogicalResult
  rewrite(OpType op, mlir::PatternRewriter &rewriter) const = 0;

  mlir::LogicalResult
  matchAndRewrite(OpType op, mlir::PatternRewriter &rewriter) const final {
    return isGlobal(op) ? rewrite(op, rewriter) : mlir::failure();
  }
};

void populateElementwisePatterns(mlir::RewritePatternSet &patterns);
void populateReshapePatterns(mlir::RewritePatternSet &patterns);
void populateTransposePatterns(mlir::RewritePatternSet &patterns);

} // namespace dtc

#endif // DTC_LIB_DIALECT_CANONICALIZATION_H
