//===- LinalgLowering.td - how an op becomes linalg --------*- tablegen -*-===//

#ifndef DTC_LOWERING_LINALGLOWERING_TD
#define DTC_LOWERING_LINALGLOWERING_TD

include "mlir/IR/OpBase.td"

def DTC_LinalgLoweringInterface : OpInterface<"LinalgLoweringInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    How an op of a kernel is computed by linalg ops on plain tensors. Models
    are attached by `registerLinalgLoweringModels`.
  }];
  let methods = [
    InterfaceMethod<"Builds the op's results at the builder's position.",
                    "::llvm::SmallVector<::mlir::Value>", "lowerToLinalg",
                    (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // DTC_LOWERING_LINALGLOWERING_TD
