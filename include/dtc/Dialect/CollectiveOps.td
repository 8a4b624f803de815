//===- CollectiveOps.td - changes of layout ----------------*- tablegen -*-===//

#ifndef DTC_DIALECT_COLLECTIVEOPS_TD
#define DTC_DIALECT_COLLECTIVEOPS_TD

include "dtc/Dialect/OpBase.td"

def DTC_ReshardOp : DTC_Op<"reshard", [Pure]> {
  let summary = "same value with another layout";
  let description = [{
    All communication within a stage, until InsertCollectives replaces it.
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
  let summary = "sum over micro-batches: partial on mb to replicated";
  let description = [{
    Example: `%r = dtc.sum_microbatches %g : tensor<8xf32, #partial_mb> -> tensor<8xf32, #r>`
    Constraints: (C1) the operand is partial(sum) on mb, or partial(max) where
    there is one micro-batch; (C2) the result's layout is the operand's without
    mb.
  }];
  let arguments = (ins DTC_Tensor:$x);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def DTC_AsPartialOp : DTC_Op<"as_partial", [
    Pure, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "view of each rank's value as its part of a sum";
  let description = [{
    Interprets the values of the ranks along the axes as terms of a sum, which the
    reduction that follows adds. No communication. A value that depends on the
    position on an axis of size 1 is the sum over that axis.
    Example: `%p = dtc.as_partial %x over ["pp"] : tensor<f64, #r> -> tensor<f64, #partial_pp>`
    Constraints: (C1) the result's layout is the operand's, partial(sum) on the
    axes, on which it was replicated, or split if they have size 1.
  }];
  let arguments = (ins DTC_Tensor:$x, StrArrayAttr:$axes);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `over` $axes attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

/// A collective over the product of mesh axes. Collectives have memory effects:
/// all members must execute them in the same order, so no pass may drop or
/// clone one. `kind` is its row of dtc/Support/Collective.h, and `answers` are
/// the other methods of the interface that the op implements.
class DTC_CollectiveOp<string name, string kind, code answers,
                       list<Trait> traits = []>
    : DTC_Op<name, !listconcat([MemoryEffects<[MemRead, MemWrite]>,
                                DTC_CollectiveOpInterface], traits)> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::dtc::CollectiveKind getCollectiveKind() {
      return ::dtc::CollectiveKind::}] # kind # [{;
    }
  }] # answers;
}

def DTC_AllReduceOp : DTC_CollectiveOp<"all_reduce", "AllReduce", [{
    std::optional<::dtc::Reduction> getCombiner() { return getReduction(); }
  }], [DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "reduction from partial to replicated on the axes";
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

def DTC_ReduceScatterOp : DTC_CollectiveOp<"reduce_scatter", "ReduceScatter", [{
    std::optional<::dtc::Reduction> getCombiner() { return getReduction(); }
    std::optional<int64_t> getInputDim() { return getDim(); }
  }]> {
  let summary = "reduction from partial to split on the axes";
  let description = [{
    Constraints: (C1) the operand is partial with this reduction on all axes;
    (C2) the result splits dimension `dim` by the axes, minor to what split it before.
  }];
  let arguments = (ins DTC_ReductionAttr:$reduction, DTC_Tensor:$x, StrArrayAttr:$axes, I64Attr:$dim);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat =
      "$reduction $x `over` $axes `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def DTC_AllGatherOp : DTC_CollectiveOp<"all_gather", "AllGather", [{
    std::optional<int64_t> getOutputDim() { return getDim(); }
  }]> {
  let summary = "gather from split to replicated on the axes";
  let description = [{
    Constraints: (C1) the axes are the minor splits of dimension `dim` of the
    operand; (C2) the result's layout is the operand's without them.
  }];
  let arguments = (ins DTC_Tensor:$x, StrArrayAttr:$axes, I64Attr:$dim);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `over` $axes `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def DTC_AllToAllOp : DTC_CollectiveOp<"all_to_all", "AllToAll", [{
    std::optional<int64_t> getInputDim() { return getTo(); }
    std::optional<int64_t> getOutputDim() { return getFrom(); }
  }]> {
  let summary = "exchange after which the axes split another dimension";
  let description = [{
    Changes split(from) to split(to). Each rank sends every other rank the part of
    its shard that the other holds in the result. Each element moves once, and
    no rank holds the whole value, unlike with a gather.
    Example: `%y = dtc.all_to_all %x over ["tp"] from 1 to 2 :
        (tensor<8x16x32xf32, #tp1>) -> tensor<8x16x32xf32, #tp2>`
    Constraints: (C1) the axes are the minor splits of dimension `from` of the
    operand; (C2) the result splits dimension `to`, another one, by the axes,
    minor to what split it before.
  }];
  let arguments = (ins DTC_Tensor:$x, StrArrayAttr:$axes, I64Attr:$from, I64Attr:$to);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat =
      "$x `over` $axes `from` $from `to` $to attr-dict `:` functional-type(operands, results)";
}

def DTC_CollectivePermuteOp : DTC_CollectiveOp<"collective_permute", "CollectivePermute", [{}]> {
  let summary = "permutation of shards between the ranks of the axes";
  let description = [{
    Member i of the group gets the shard of member `sources[i]`; members are in
    the order of their coordinates on the axes, the last one fastest. With one
    layout on both sides, shards move on and the value's blocks change places,
    as in a ring. With two, the value stays what it is and the order of axes in
    a dimension, or the axis that splits it, changes.
    Example: `%y = dtc.collective_permute %x over ["cp"] sources [3, 0, 1, 2] :
        (tensor<16x8xf32, #cp>) -> tensor<16x8xf32, #cp>`
    Constraints: (C1) `sources` names each member of the group once; (C2) the
    layouts differ on the axes at most, on which nothing is partial; (C3) if
    they differ, each member gets the shard that is its own in the result.
  }];
  let arguments = (ins DTC_Tensor:$x, StrArrayAttr:$axes, DenseI64ArrayAttr:$sources);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat =
      "$x `over` $axes `sources` $sources attr-dict `:` functional-type(operands, results)";
}

def DTC_LocalSliceOp : DTC_Op<"local_slice", [Pure]> {
  let summary = "local shard of a replicated value, without communication";
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
