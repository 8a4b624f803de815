//===- SplitExpansion.td - ops over a split dimension ------*- tablegen -*-===//

#ifndef DTC_PROPAGATION_SPLITEXPANSION_TD
#define DTC_PROPAGATION_SPLITEXPANSION_TD

include "mlir/IR/OpBase.td"

def DTC_SplitExpansionInterface : OpInterface<"SplitExpansionInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op whose sharding rule needs a dimension whole, but that other ops can
    compute where that dimension is split: a lookup in a split table, a
    cross-entropy over split classes, a causal attention of split queries. The
    models live in `lib/Propagation/Expansions`.
  }];
  let methods = [
    InterfaceMethod<"The dimension of an operand that may be split, if any.",
      "std::optional<int64_t>", "getSplittableDim", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
      The dimension of the only result that may be split although no operand
      says how, if any.
    }], "std::optional<int64_t>", "getSplittableResultDim">,
    InterfaceMethod<[{
      Builds ops with the same results. `starts` has the first index of each
      part of the dimension and is split as the dimension is to be.
    }], "::llvm::SmallVector<::mlir::Value>", "expandSplit",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$starts)>,
  ];
}

#endif // DTC_PROPAGATION_SPLITEXPANSION_TD
