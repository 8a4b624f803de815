//===- DifferentiableInterface.td - gradients of ops -------*- tablegen -*-===//

#ifndef DTC_TRAINING_DIFFERENTIABLEINTERFACE_TD
#define DTC_TRAINING_DIFFERENTIABLEINTERFACE_TD

include "mlir/IR/OpBase.td"

def DTC_DifferentiableInterface : OpInterface<"DifferentiableInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    Reverse-mode differentiation of one op, its vector-Jacobian product. The
    models live in `lib/Training/Gradients`, one short rule per op.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands from those of the results. A result
      gradient is null where it is zero. `operandGrads` has one null entry for
      each operand; entries that stay null are zero or do not exist (indices,
      labels, conditions). A gradient has its operand's type.
    }], "::llvm::LogicalResult", "vjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGrads,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGrads)>,
  ];
}

#endif // DTC_TRAINING_DIFFERENTIABLEINTERFACE_TD
