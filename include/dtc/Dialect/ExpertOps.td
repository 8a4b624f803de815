//===- ExpertOps.td - products of rows by chosen matrices --*- tablegen -*-===//
//
// A mixture of experts has a stack of matrices, of which each row uses one.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_EXPERTOPS_TD
#define DTC_DIALECT_EXPERTOPS_TD

include "dtc/Dialect/OpBase.td"

def DTC_GroupedMatMulOp : DTC_InferredOp<"grouped_matmul", [
    DTC_Product, DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let summary = "product of each row with the matrix that its index names";
  let description = [{
    result[t, :] = rows[t, :] op(weights[indices[t]]), where op transposes if the
    flag is set. A row whose index names no matrix is NaN. (Shazeer et al., arXiv
    1701.06538; Gale et al., arXiv 2211.15841.)

    Example: `%y = dtc.grouped_matmul %x, %w, %e : (tensor<64x32xf32>, tensor<8x32x96xf32>, tensor<64xi64>) -> tensor<64x96xf32>`
    Constraints: (C1) rows have rank 2, weights rank 3, and there is one index for
    each row; (C2) the contracted sizes agree; (C3) rows and weights have one
    element type.
  }];
  let arguments = (ins DTC_Float:$rows, DTC_Float:$weights, DTC_Int:$indices,
                       UnitAttr:$transpose_weights);
  let results = (outs DTC_Float:$result);
  let hasVerifier = 1;
}

def DTC_GroupedOuterOp : DTC_TensorOp<"grouped_outer", [
    DTC_Product, DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let summary = "for each index, the sum of the outer products of its rows";
  let description = [{
    result[e, :, :] = sum over t where indices[t] = e of lhs[t, :]^T rhs[t, :],
    in the order of t: the gradient of the weights of `dtc.grouped_matmul`. Rows
    whose index is out of range add nothing.

    Example: `%dw = dtc.grouped_outer %x, %dy, %e : (tensor<64x32xf32>, tensor<64x96xf32>, tensor<64xi64>) -> tensor<8x32x96xf32>`
    Constraints: (C1) lhs and rhs have rank 2, and as many rows as there are
    indices; (C2) the result has rank 3, with matrices of the rows' sizes; (C3)
    lhs and rhs have one element type.
  }];
  let arguments = (ins DTC_Float:$lhs, DTC_Float:$rhs, DTC_Int:$indices);
  let results = (outs DTC_Float:$result);
  let hasVerifier = 1;
}

#endif // DTC_DIALECT_EXPERTOPS_TD
