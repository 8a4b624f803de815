//===- Interfaces.td - interfaces of ops -------------------*- tablegen -*-===//

#ifndef DTC_DIALECT_INTERFACES_TD
#define DTC_DIALECT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DTC_ShardingRuleInterface : OpInterface<"ShardingRuleInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    The correspondence of dimensions of operands and results, as einsum-like
    factors. Propagation and verification use this one rule. An op
    with the interface is verified wherever it carries layouts: its result
    layouts must be those that the rule infers from its operand layouts.
  }];
  let methods = [
    InterfaceMethod<"The rule, from the logical shapes of this op.",
                    "::dtc::ShardingRule", "getShardingRule">,
  ];
  // Runs after the op's own verifier, since rules rely on its checks.
  let verifyWithRegions = 1;
  let verify = [{ return ::dtc::detail::verifyLayouts($_op); }];
}

def DTC_CostInterface : OpInterface<"CostInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    The cost of one execution, on logical shapes: floating-point operations, by
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
    Results that share memory with an operand. A `view` only reads the
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
    An op that computes different results in training and in evaluation.
  }];
  let methods = [
    InterfaceMethod<"Builds the value of the only result in an evaluation.",
                    "::mlir::Value", "buildForEvaluation",
                    (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

def DTC_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    Communication of a group of ranks, whose coordinates differ on its axes only.
    dtc/Support/Collective.h describes each kind; an op adds its attributes.
    Reports, proofs, memory plans and lowering use this interface. All operands
    have one element type; several operands are one bucket. Buffers of a rank have the shapes of getLocalType.
  }];
  let methods = [
    InterfaceMethod<"The kind of collective.",
                    "::dtc::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<"The mesh axes that its group spans, major to minor.",
                    "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"The reduction of elements; none if they only move.",
                    "std::optional<::dtc::Reduction>", "getCombiner", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"The dimension along which the input has a share for each "
                    "member, if it has one.",
                    "std::optional<int64_t>", "getInputDim", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"The dimension along which the output has a share for each "
                    "member, if it has one.",
                    "std::optional<int64_t>", "getOutputDim", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"For each member, in order, the member whose input it receives.",
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
    /// The number of ranks in the group.
    int64_t getNumMembers() { return ::dtc::detail::countMembers($_op); }
    /// The number of blocks that a member's share of the buffer consists of;
    /// blocks of different members alternate.
    int64_t getInputBlocks() {
      return ::dtc::detail::countBlocks($_op->getOperand(0).getType(),
                                        $_op.getInputDim());
    }
    int64_t getOutputBlocks() {
      return ::dtc::detail::countBlocks($_op->getResult(0).getType(),
                                        $_op.getOutputDim());
    }
    /// Whether all shares are contiguous. If not, the rank reorders blocks
    /// before or after the exchange, so the collective cannot be asynchronous.
    bool isContiguous() {
      return getInputBlocks() == 1 && getOutputBlocks() == 1;
    }
    /// The collective's name in reports, such as "all_reduce dp,tp".
    std::string getSummary() {
      return std::string(getTraits().name) + " " +
             ::llvm::join($_op.getAxes().template getAsValueRange<
                 ::mlir::StringAttr>(), ",");
    }
  }];
  let verify = [{ return ::dtc::detail::verifyCollective($_op); }];
}

#endif // DTC_DIALECT_INTERFACES_TD
