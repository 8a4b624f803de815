//===- OpBase.td - base classes of ops ---------------------*- tablegen -*-===//

#ifndef DTC_DIALECT_OPBASE_TD
#define DTC_DIALECT_OPBASE_TD

include "dtc/Dialect/Attributes.td"
include "dtc/Dialect/Interfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def DTC_Float : RankedTensorOf<[F16, BF16, F32, F64]>;
def DTC_Int : RankedTensorOf<[I32, I64]>;
def DTC_Bool : RankedTensorOf<[I1]>;
def DTC_Number : RankedTensorOf<[F16, BF16, F32, F64, I32, I64]>;
/// I8 only stores and moves: codes of compressed gradients.
def DTC_Tensor : RankedTensorOf<[F16, BF16, F32, F64, I1, I8, I32, I64]>;
def DTC_Scalar : Type<
    And<[RankedTensorOf<[F64]>.predicate,
         CPred<"::llvm::cast<::mlir::ShapedType>($_self).getRank() == 0">]>,
    "scalar f64 tensor", "::mlir::RankedTensorType">;

/// All operands have the same compute type: f32 operands may be combined with
/// f16 or bf16, which are storage types.
def DTC_SameComputeType : PredOpTrait<
    "operands have one element type, f16 and bf16 counting as f32",
    CPred<"::dtc::haveSameComputeType($_op.getOperandTypes())">>;

class DTC_Op<string name, list<Trait> traits = []>
    : Op<DTC_Dialect, name, traits>;

/// An op on logical tensors: pure, with a sharding rule and a cost.
class DTC_TensorOp<string name, list<Trait> traits = []>
    : DTC_Op<name, !listconcat([
        Pure, DeclareOpInterfaceMethods<DTC_ShardingRuleInterface>,
        DeclareOpInterfaceMethods<DTC_CostInterface>], traits)> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

/// A tensor op whose result types follow from its operands. The sharding rule
/// infers layouts separately. If the inferred element type is f16 or bf16, the
/// result may instead be f32, the compute type.
class DTC_InferredOp<string name, list<Trait> traits = []>
    : DTC_TensorOp<name, !listconcat(
        [DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)> {
  code inferred = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange a,
                                        ::mlir::TypeRange b) {
      return ::dtc::areStoredResults(a, b);
    }
  }];
  let extraClassDeclaration = inferred;
}

/// Sums of products, which a library computes.
def DTC_Product : NativeOpTrait<"Product"> { let cppNamespace = "::dtc"; }

/// The operands in which an op is linear, so that they may be partial.
class DTC_Linearity<string value> { string cpp = "::dtc::Linearity::" # value; }
/// Linear in none: partial operands are reduced first.
def LinearInNone : DTC_Linearity<"None">;
/// Linear in all operands jointly, like a sum: all are partial, or none.
def LinearJointly : DTC_Linearity<"Jointly">;
/// Linear in each operand alone, like a product: at most one is partial.
def LinearInEach : DTC_Linearity<"Each">;
/// Linear in the first operand only, like a quotient.
def LinearInFirst : DTC_Linearity<"First">;
/// Linear in all operands but the first, jointly, like a select.
def LinearInRest : DTC_Linearity<"Rest">;

#endif // DTC_DIALECT_OPBASE_TD
