//===- Vjp.h - builder for gradient rules -----------------------*- C++ -*-===//
//
// A rule is a function `differentiate(SomeOp op, Vjp &d)` in namespace dtc. It
// reads the gradients of results, builds dtc ops, and sets the gradients of
// operands.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_GRADIENTS_VJP_H
#define DTC_LIB_TRAINING_GRADIENTS_VJP_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Training/DifferentiableInterface.h"

namespace dtc {

class Vjp {
public:
  /// New ops have the location of `op`.
  Vjp(mlir::Operation *op, mlir::OpBuilder &builder,
      mlir::ValueRange resultGrads,
      llvm::SmallVectorImpl<mlir::Value> &operandGrads)
      : builder(builder), loc(op->getLoc()), op(op), resultGrads(resultGrads),
        operandGrads(operandGrads) {}

  /// The gradient of a result; null if it is zero. A rule of an op with one
  /// result is only called if it is not null.
  mlir::Value grad(unsigned result = 0) const { return resultGrads[result]; }

  /// Sets the gradient of an operand. If the operand was broadcast, sums over
  /// the broadcast dimensions.
  void set(unsigned operand, mlir::Value gradient) {
    operandGrads[operand] =
        unbroadcast(gradient, op->getOperand(operand).getType());
  }

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }

  /// A scalar of the type in which elements of `like` are computed.
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
  /// `value` where the comparison of a and b holds, else zero.
  mlir::Value mask(Comparison predicate, mlir::Value a, mlir::Value b,
                   mlir::Value value) {
    return select(compare(predicate, a, b), value, constant(value, 0));
  }
  /// Casts x, unless it has the element type.
  mlir::Value cast(mlir::Value x, mlir::Type elementType);
  /// Reshapes x to the shape of `type`, and keeps the element type of x.
  mlir::Value reshape(mlir::Value x, mlir::Type type);
  /// Broadcasts x to the shape of `type`, and keeps the element type of x.
  mlir::Value broadcast(mlir::Value x, mlir::RankedTensorType type) {
    return create<BroadcastOp>(
        type.clone(mlir::getElementTypeOrSelf(x.getType())), x);
  }
  /// Sums over the axes. A factor that is constant along the axes multiplies
  /// the sum instead of each element.
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
void attachExpertGradients(mlir::MLIRContext &context);
void attachIndexingGradients(mlir::MLIRContext &context);
void attachLossGradients(mlir::MLIRContext &context);
void attachMatMulGradients(mlir::MLIRContext &context);
void attachNormalizationGradients(mlir::MLIRContext &context);
void attachReductionGradients(mlir::MLIRContext &context);
void attachShapeGradients(mlir::MLIRContext &context);

} // namespace dtc

#endif // DTC_LIB_TRAINING_GRADIENTS_VJP_H
