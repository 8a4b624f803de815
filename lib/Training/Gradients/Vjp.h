//===- Vjp.h - what gradient rules are written with -------------*- C++ -*-===//
//
// A rule is a function `differentiate(SomeOp op, Vjp &d)` in namespace dtc. It
// reads result gradients, builds dtc ops, and sets operand gradients.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_GRADIENTS_VJP_H
#define DTC_LIB_TRAINING_GRADIENTS_VJP_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Training/DifferentiableInterface.h"

namespace dtc {

class Vjp {
public:
  /// New ops get the location of `op`.
  Vjp(mlir::Operation *op, mlir::OpBuilder &builder,
      mlir::ValueRange resultGrads,
      llvm::SmallVectorImpl<mlir::Value> &operandGrads)
      : builder(builder), loc(op->getLoc()), op(op), resultGrads(resultGrads),
        operandGrads(operandGrads) {}

  /// The gradient of a result; null where it is zero. Rules of ops with one
  /// result are only asked when it is not.
  mlir::Value grad(unsigned result = 0) const { return resultGrads[result]; }

  /// Sets the gradient of an operand, which may have been broadcast: sums over
  /// the dimensions that were repeated.
  void set(unsigned operand, mlir::Value gradient) {
    operandGrads[operand] =
        unbroadcast(gradient, op->getOperand(operand).getType());
  }

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }

  /// A scalar in the type that elements of `like` are computed in.
  mlir::Value constant(mlir::Value like, double value);

  mlir::Value add(mlir::Value a, mlir::Value b) { return create<AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return create<SubOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return create<MulOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return create<DivOp>(a, b); }
  mlir::Value neg(mlir::Value x) { return create<NegOp>(x); }
  mlir::Value scale(mlir::Value x, double factor) {
    return mul(x, constant(x, factor));
  }
  mlir::Value compare(Comparison predicate, mlir::Value a, mlir::Value b) {
    return create<CompareOp>(predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse) {
    return create<SelectOp>(condition, onTrue, onFalse);
  }
  /// `value` where a is in relation to b, else zero.
  mlir::Value mask(Comparison predicate, mlir::Value a, mlir::Value b,
                   mlir::Value value) {
    return select(compare(predicate, a, b), value, constant(value, 0));
  }
  /// Nothing if the element type is right already.
  mlir::Value cast(mlir::Value x, mlir::Type elementType);
  /// The shape of `type`, the element type of x.
  mlir::Value reshape(mlir::Value x, mlir::Type type);
  /// Repeats x to the shape of `type`; the element type is that of x.
  mlir::Value broadcast(mlir::Value x, mlir::RankedTensorType type) {
    return create<BroadcastOp>(
        type.clone(mlir::getElementTypeOrSelf(x.getType())), x);
  }
  /// What is repeated along the axes multiplies the sum, not each element.
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value sumLastDim(mlir::Value x);
  mlir::Value unbroadcast(mlir::Value x, mlir::Type type);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Operation *op;
  mlir::ValueRange resultGrads;
  llvm::SmallVectorImpl<mlir::Value> &operandGrads;
};

/// Calls the rule of an op.
template <typename OpTy>
struct VjpModel : DifferentiableInterface::ExternalModel<VjpModel<OpTy>, OpTy> {
  llvm::LogicalResult
  vjp(mlir::Operation *op, mlir::OpBuilder &builder,
      mlir::ValueRange resultGrads,
      llvm::SmallVectorImpl<mlir::Value> &operandGrads) const {
    Vjp d(op, builder, resultGrads, operandGrads);
    differentiate(llvm::cast<OpTy>(op), d);
    return llvm::success();
  }
};

template <typename... OpTys> void attachGradients(mlir::MLIRContext &context) {
  (OpTys::template attachInterface<VjpModel<OpTys>>(context), ...);
}

void attachAttentionGradients(mlir::MLIRContext &context);
void attachBoundaryGradients(mlir::MLIRContext &context);
void attachConvolutionGradients(mlir::MLIRContext &context);
void attachElementwiseGradients(mlir::MLIRContext &context);
void attachIndexingGradients(mlir::MLIRContext &context);
void attachLossGradients(mlir::MLIRContext &context);
void attachMatMulGradients(mlir::MLIRContext &context);
void attachNormalizationGradients(mlir::MLIRContext &context);
void attachReductionGradients(mlir::MLIRContext &context);
void attachShapeGradients(mlir::MLIRContext &context);

} // namespace dtc

#endif // DTC_LIB_TRAINING_GRADIENTS_VJP_H
