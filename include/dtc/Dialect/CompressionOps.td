//===- CompressionOps.td - ops of exchanged values ---------*- tablegen -*-===//

#ifndef DTC_DIALECT_COMPRESSIONOPS_TD
#define DTC_DIALECT_COMPRESSIONOPS_TD

include "dtc/Dialect/OpBase.td"

def DTC_TermsOp : DTC_Op<"terms", [
    Pure, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "terms of a sum over a mesh axis, as a dimension";
  let description = [{
    The opposite of a reduction: the operand is a sum over `axis`, and row i of
    the result is the term that the ranks at position i of the axis have.
    Different plans have different terms of one value, so no pass may assume
    more of them than their sum. No communication.

    If the operand is `each` on the axis, row i is the value at position i.

    PropagateLayouts first completes sums over other axes. If all positions of
    the axis have the same value, each of n terms is the operand divided by n.
    Example: `%t = dtc.terms %g over "dp" : tensor<8x4xf32> -> tensor<2x8x4xf32>`
    Constraints: (C1) the result has the shape of the operand, with one more
    dimension in front, of the size of the axis; (C2) with layouts, the operand
    is partial(sum) or each on the axis, which splits dimension 0 of the result;
    other axes split the same dimensions of both.
  }];
  let arguments = (ins DTC_Float:$x, StrAttr:$axis);
  let results = (outs DTC_Float:$y);
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def DTC_OwnRowOp : DTC_Op<"own_row", [
    Pure, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "row of each position of a mesh axis: the opposite of dtc.terms";
  let description = [{
    Row i of the operand is the value at position i of `axis`, and the result is
    `each` on it. A view, without communication.

    PropagateLayouts splits dimension 0 of the operand over the axis.
    Example: `%w = dtc.own_row %t over "dp" : tensor<2x8x4xf32> -> tensor<8x4xf32>`
    Constraints: (C1) the result has the shape of the operand without dimension
    0, which has the size of the axis; (C2) with layouts, the axis splits
    dimension 0 of the operand, and the result is each on it; other axes split
    the same dimensions of both.
  }];
  let arguments = (ins DTC_Tensor:$x, StrAttr:$axis);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def DTC_PushedOp : DTC_Op<"pushed", [
    Pure, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "value that one position of a mesh axis has sent to a server";
  let description = [{
    Every position of `axis` has a value of its own, and the result is that of
    one of them. The runtime decides which: before it runs the program that
    contains the op, it copies the value into the memory of the operand on the
    ranks that run the program. So this is a view, without communication.
    Example: `%g = dtc.pushed %x over "dp" : tensor<8x4xf32> -> tensor<8x4xf32>`
    Constraints: (C1) operand and result have one shape; (C2) with layouts, the
    operand is each on the axis, and the result has no entry for it; both agree
    in all else.
  }];
  let arguments = (ins DTC_Float:$x, StrAttr:$axis);
  let results = (outs DTC_Float:$y);
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def DTC_PermuteRowsOp : DTC_TensorOp<"permute_rows", [
    AllTypesMatch<["x", "y"]>]> {
  let summary = "rows of a tensor in another order";
  let description = [{
    Row i of the result is row sources[i] of the operand. PropagateLayouts makes
    it a dtc.collective_permute over the axis that splits dimension 0 into
    single rows.
    Example: `%y = dtc.permute_rows %x {sources = array<i64: 1, 2, 0>} :
      (tensor<3x8xf32>) -> tensor<3x8xf32>`
    Constraints: (C1) sources is a permutation of the indices of dimension 0.
  }];
  let arguments = (ins DTC_Float:$x, DenseI64ArrayAttr:$sources);
  let results = (outs DTC_Float:$y);
  let hasVerifier = 1;
}

def DTC_SumTermsOp : DTC_TensorOp<"sum_terms", [
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "sum of terms that are a dimension: the opposite of dtc.terms";
  let description = [{
    The sum over dimension 0, without this dimension. A view: where an axis
    splits dimension 0, each rank has one term, and the result is partial.
    Example: `%g = dtc.sum_terms %t : (tensor<2x8x4xf32>) -> tensor<8x4xf32>`
    Constraints: (C1) the result has the shape of the operand without dimension
    0; (C2) with layouts, axes split dimension 0 into single terms.
  }];
  let arguments = (ins DTC_Float:$x);
  let results = (outs DTC_Float:$y);
  let hasVerifier = 1;
}

def DTC_TopKOp : DTC_TensorOp<"top_k"> {
  let summary = "places of the elements with the largest magnitudes";
  let description = [{
    For each row of the last dimension, the indices of the k elements whose
    magnitudes are largest, in ascending order. Of equal magnitudes the first
    ones are taken. NaN is larger than any number. k is the size of the
    result's last dimension.
    Example: `%i = dtc.top_k %x : (tensor<2x100xf32>) -> tensor<2x5xi32>`
    Constraints: (C1) operand and result agree in all dimensions but the last;
    (C2) k is from 1 to the size of the operand's last dimension.
  }];
  let arguments = (ins DTC_Float:$x);
  let results = (outs DTC_Int:$indices);
  let hasVerifier = 1;
}

def DTC_OrthonormalizeOp : DTC_TensorOp<"orthonormalize", [
    AllTypesMatch<["x", "y"]>]> {
  let summary = "orthonormal columns that span those of a matrix";
  let description = [{
    Gram-Schmidt on the columns of the last two dimensions, from the first column
    on: the parts of the columns before are removed from a column, and it is
    divided by its norm. Both are done twice, so that columns are orthogonal
    even if the matrix has a smaller rank (Giraud, Langou and Rozloznik, 2005).
    A column of zeros stays zero. Sums are in double precision.
    Example: `%q = dtc.orthonormalize %p : (tensor<64x4xf32>) -> tensor<64x4xf32>`
    Constraints: (C1) the operand has rank 2 or more.
  }];
  let arguments = (ins DTC_Float:$x);
  let results = (outs DTC_Float:$y);
  let hasVerifier = 1;
}

def DTC_KeepOp : DTC_TensorOp<"keep", [
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "new value of a state of exchanged gradients";
  let description = [{
    The value, in place of the old state. With `norm`, the state stays as it is
    if the norm of the gradient is NaN or infinite, because the step is skipped.
    `AddOptimizer` adds the norm, except with `always`.
    Example: `%e1 = dtc.keep %e, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>`
    Constraints: (C1) state, value and result have one type.
  }];
  let arguments = (ins DTC_Float:$state, DTC_Float:$value, Optional<DTC_Scalar>:$norm,
                       UnitAttr:$always);
  let results = (outs DTC_Float:$new_state);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::dtc::ShardingRule $cppClass::getShardingRule() {
      return ::dtc::elementwiseRule(*this, ::dtc::Linearity::None);
    }
    std::optional<::dtc::Alias> $cppClass::getAlias(unsigned) {
      return ::dtc::Alias{0, ::dtc::AliasKind::Update};
    }
  }];
}

#endif // DTC_DIALECT_COMPRESSIONOPS_TD
