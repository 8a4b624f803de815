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

def DTC_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    Communication of a group of ranks: those that differ on its axes only. What
    kinds have in common and where they differ is in dtc/Support/Collective.h;
    an op adds what its attributes say. Reports, proofs, memory plans and
    lowering ask this interface. All operands have one element type; several
    are one bucket. Buffers of a rank have the shapes of getLocalType.
  }];
  let methods = [
    InterfaceMethod<"Which collective it is.",
                    "::dtc::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<"The mesh axes that its group spans, major to minor.",
                    "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"How elements are combined; none if they only move.",
                    "std::optional<::dtc::Reduction>", "getCombiner", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"The dimension along which the input has a share for each "
                    "member, if it has one.",
                    "std::optional<int64_t>", "getInputDim", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"The same of the output.",
                    "std::optional<int64_t>", "getOutputDim", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"Of each member, in order: the member whose input it gets.",
                    "::llvm::ArrayRef<int64_t>", "getSources", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return {}; }]>,
  ];
  let extraSharedClassDeclaration = [{
    const ::dtc::CollectiveTraits &getTraits() {
      return ::dtc::getTraits($_op.getCollectiveKind());
    }
    /// Whether the group spans an axis.
    bool spans(::llvm::StringRef axis) {
      return ::llvm::is_contained(
          $_op.getAxes().template getAsValueRange<::mlir::StringAttr>(), axis);
    }
    /// Ranks of the group.
    int64_t getNumMembers() { return ::dtc::detail::countMembers($_op); }
    /// How many blocks the members' shares of a buffer alternate in: 1 if each
    /// share lies in one piece.
    int64_t getInputBlocks() {
      return ::dtc::detail::countBlocks($_op->getOperand(0).getType(),
                                        $_op.getInputDim());
    }
    int64_t getOutputBlocks() {
      return ::dtc::detail::countBlocks($_op->getResult(0).getType(),
                                        $_op.getOutputDim());
    }
    /// Whether all shares lie in one piece: else the rank reorders blocks
    /// before or after the exchange, which one that is awaited later cannot.
    bool isContiguous() {
      return getInputBlocks() == 1 && getOutputBlocks() == 1;
    }
    /// "all_reduce dp,tp", as reports name it.
    std::string getSummary() {
      return std::string(getTraits().name) + " " +
             ::llvm::join($_op.getAxes().template getAsValueRange<
                 ::mlir::StringAttr>(), ",");
    }
  }];
  let verify = [{ return ::dtc::detail::verifyCollective($_op); }];
}

#endif // DTC_DIALECT_INTERFACES_TD
