//===- CollectiveOps.td - changes of layout ----------------*- tablegen -*-===//

#ifndef DTC_DIALECT_COLLECTIVEOPS_TD
#define DTC_DIALECT_COLLECTIVEOPS_TD

include "dtc/Dialect/OpBase.td"

def DTC_ReshardOp : DTC_Op<"reshard", [Pure]> {
  let summary = "the same value under another layout";
  let description = [{
    The only communication there is until InsertCollectives.
    Example: `%r = dtc.reshard %g : tensor<8xf32, #partial> -> tensor<8xf32, #replicated>`
    Constraints: (C1) shapes and element types agree; (C2) both types have
    layouts over one mesh; (C3) no axis becomes partial that was not.
  }];
  let arguments = (ins DTC_Tensor:$x);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def DTC_SumMicrobatchesOp : DTC_Op<"sum_microbatches", [Pure]> {
  let summary = "partial on mb becomes replicated: accumulate over time";
  let description = [{
    Example: `%r = dtc.sum_microbatches %g : tensor<8xf32, #partial_mb> -> tensor<8xf32, #r>`
    Constraints: (C1) the operand is partial(sum) on mb; (C2) the result's
    layout is the operand's without mb.
  }];
  let arguments = (ins DTC_Tensor:$x);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def DTC_AsPartialOp : DTC_Op<"as_partial", [
    Pure, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "a rank's own value as its part of a sum";
  let description = [{
    The sum over the axes of what is so far each rank's own. No communication:
    it says what the reduction that follows adds up. What depends on the
    position on an axis of size 1 is the sum over it.
    Example: `%p = dtc.as_partial %x over ["pp"] : tensor<f64, #r> -> tensor<f64, #partial_pp>`
    Constraints: (C1) the result's layout is the operand's, partial(sum) on the
    axes, on which it was replicated, or split if they have size 1.
  }];
  let arguments = (ins DTC_Tensor:$x, StrArrayAttr:$axes);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `over` $axes attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

/// A collective over the product of mesh axes. Collectives have effects: all
/// members must execute them in one order, so no pass may drop or clone one
/// for itself.
class DTC_CollectiveOp<string name, list<Trait> traits = []>
    : DTC_Op<name, !listconcat([MemoryEffects<[MemRead, MemWrite]>], traits)> {
  let hasVerifier = 1;
}

def DTC_AllReduceOp : DTC_CollectiveOp<"all_reduce", [
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "partial becomes replicated on the axes";
  let description = [{
    Several operands form one bucket: they are reduced by one call.
    Example: `%r = dtc.all_reduce sum %g over ["dp"] : (tensor<8xf32, #partial>) -> tensor<8xf32, #r>`
    Constraints: (C1) as many results as operands; (C2) each operand is
    partial with this reduction on all axes; (C3) each result's layout is its
    operand's without the axes; (C4) one element type.
  }];
  let arguments = (ins DTC_ReductionAttr:$reduction, Variadic<DTC_Tensor>:$x, StrArrayAttr:$axes);
  let results = (outs Variadic<DTC_Tensor>:$y);
  let assemblyFormat =
      "$reduction $x `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_ReduceScatterOp : DTC_CollectiveOp<"reduce_scatter"> {
  let summary = "partial becomes split on the axes";
  let description = [{
    Constraints: (C1) the operand is partial with this reduction on all axes;
    (C2) the result splits dimension `dim` by the axes, minor to what split it before.
  }];
  let arguments = (ins DTC_ReductionAttr:$reduction, DTC_Tensor:$x, StrArrayAttr:$axes, I64Attr:$dim);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat =
      "$reduction $x `over` $axes `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def DTC_AllGatherOp : DTC_CollectiveOp<"all_gather"> {
  let summary = "split becomes replicated on the axes";
  let description = [{
    Constraints: (C1) the axes are the minor splits of dimension `dim` of the
    operand; (C2) the result's layout is the operand's without them.
  }];
  let arguments = (ins DTC_Tensor:$x, StrArrayAttr:$axes, I64Attr:$dim);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `over` $axes `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def DTC_LocalSliceOp : DTC_Op<"local_slice", [Pure]> {
  let summary = "replicated becomes split on the axes; no communication";
  let description = [{
    Constraints: (C1) the axes are the minor splits of dimension `dim` of the
    result; (C2) the operand's layout is the result's without them.
  }];
  let arguments = (ins DTC_Tensor:$x, StrArrayAttr:$axes, I64Attr:$dim);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `over` $axes `dim` $dim attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // DTC_DIALECT_COLLECTIVEOPS_TD
