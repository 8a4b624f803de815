//===- Interfaces.td - what an op says about itself --------*- tablegen -*-===//

#ifndef DTC_DIALECT_INTERFACES_TD
#define DTC_DIALECT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DTC_ShardingRuleInterface : OpInterface<"ShardingRuleInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    How the dimensions of operands and results correspond, as einsum-like
    factors. Propagation and verification use this one rule. An op
    with the interface is verified wherever it carries layouts: its result
    layouts must be those that the rule infers from its operand layouts.
  }];
  let methods = [
    InterfaceMethod<"The rule, from the logical shapes of this op.",
                    "::dtc::ShardingRule", "getShardingRule">,
  ];
  // After the op's own verifier: rules rely on what that has checked.
  let verifyWithRegions = 1;
  let verify = [{ return ::dtc::detail::verifyLayouts($_op); }];
}

def DTC_CostInterface : OpInterface<"CostInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    What one execution costs, on logical shapes: floating-point operations, by
    default one for each element of the results.
  }];
  let methods = [
    InterfaceMethod<"Floating-point operations.", "int64_t", "getFlops", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return ::dtc::detail::countResultElements($_op);
      }]>,
  ];
}

def DTC_AliasInterface : OpInterface<"AliasInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    Results that share memory with an operand. A `view` only looks at the
    operand's bytes; an `update` overwrites them, so that the operand must not
    be used afterwards.
  }];
  let methods = [
    InterfaceMethod<"The operand that a result shares memory with, if any.",
                    "std::optional<::dtc::Alias>", "getAlias",
                    (ins "unsigned":$result)>,
  ];
}

def DTC_EvaluationInterface : OpInterface<"EvaluationInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op that computes something else in an evaluation than in a training.
  }];
  let methods = [
    InterfaceMethod<"Builds what the only result is in an evaluation.",
                    "::mlir::Value", "buildForEvaluation",
                    (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // DTC_DIALECT_INTERFACES_TD
