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

//===----------------------------------------------------------------------===//
// Experts on other ranks
//===----------------------------------------------------------------------===//

def DTC_DispatchOp : DTC_TensorOp<"dispatch"> {
  let summary = "rows in slots of the experts that their indices name";
  let description = [{
    Rows are `groups` groups, one after another. result[e, g, p, :] is the p-th
    row of group g whose index is e; zero if there is none. The number of slots,
    dimension 2, is the capacity of an expert for a group: further rows have no
    slot. (Lepikhin et al., arXiv 2006.16668.)

    With layouts, `axis` splits the experts of the result, if it splits rows.

    Example: `%s = dtc.dispatch %x, %e {axis = "ep"} : (tensor<64x32xf32>, tensor<64xi64>) -> tensor<8x4x16x32xf32>`
    Constraints: (C1) rows have rank 2, and there is one index for each; (C2) the
    result is [experts, groups, capacity, width], and groups divide the rows.
  }];
  let arguments = (ins DTC_Tensor:$rows, DTC_Int:$indices, StrAttr:$axis);
  let results = (outs DTC_Tensor:$slots);
  let hasVerifier = 1;
}

def DTC_CombineOp : DTC_TensorOp<"combine"> {
  let summary = "rows out of slots: the opposite of dtc.dispatch";
  let description = [{
    Row t of the result is the slot that `dtc.dispatch` copies row t to; zero if
    it has none. Each op is the gradient of the other.

    With layouts, `axis` splits the groups of the slots, if it splits their
    experts.

    Example: `%y = dtc.combine %s, %e {axis = "ep"} : (tensor<8x4x16x32xf32>, tensor<64xi64>) -> tensor<64x32xf32>`
    Constraints: as dispatch, with slots as its result.
  }];
  let arguments = (ins DTC_Tensor:$slots, DTC_Int:$indices, StrAttr:$axis);
  let results = (outs DTC_Tensor:$rows);
  let hasVerifier = 1;
}

def DTC_CountRowsOp : DTC_TensorOp<"count_rows"> {
  let summary = "numbers of slots that dtc.dispatch fills";
  let description = [{
    result[e, g] is the number of rows of group g whose index is e, and no more
    than `capacity`. With layouts, `axis` splits the experts of the result, if it
    splits rows.

    Example: `%n = dtc.count_rows %e {axis = "ep", capacity = 16 : i64} : (tensor<64xi64>) -> tensor<8x4xi32>`
    Constraints: (C1) indices have rank 1; (C2) the result is [experts, groups],
    and groups divide the rows; (C3) the capacity is at least 1.
  }];
  let arguments = (ins DTC_Int:$indices, StrAttr:$axis, I64Attr:$capacity);
  let results = (outs RankedTensorOf<[I32]>:$counts);
  let hasVerifier = 1;
}

def DTC_ExpertMatMulOp : DTC_InferredOp<"expert_matmul", [
    DTC_Product, DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let summary = "product of the slots of each expert with its matrix";
  let description = [{
    result[e, g, p, :] = slots[e, g, p, :] op(weights[e]) for p < counts[e, g],
    and zero for other slots, where op transposes if the flag is set.
    `group_rows` is the number of rows of a group, for FLOPs.

    Example: `%y = dtc.expert_matmul %s, %w, %n {group_rows = 16 : i64} : (tensor<8x4x16x32xf32>, tensor<8x32x96xf32>, tensor<8x4xi32>) -> tensor<8x4x16x96xf32>`
    Constraints: (C1) slots have rank 4, weights rank 3, both as many experts;
    (C2) the contracted sizes agree; (C3) slots and weights have one element
    type; (C4) there is a count for each expert and group.
  }];
  let arguments = (ins DTC_Float:$slots, DTC_Float:$weights, RankedTensorOf<[I32]>:$counts,
                       UnitAttr:$transpose_weights, I64Attr:$group_rows);
  let results = (outs DTC_Float:$result);
  let hasVerifier = 1;
}

def DTC_ExpertOuterOp : DTC_TensorOp<"expert_outer", [
    DTC_Product, DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let summary = "for each expert, the sum of the outer products of its slots";
  let description = [{
    result[e, :, :] = sum over g and p < counts[e, g] of lhs[e, g, p, :]^T
    rhs[e, g, p, :]: the gradient of the weights of `dtc.expert_matmul`.

    Example: `%dw = dtc.expert_outer %s, %dy, %n {group_rows = 16 : i64} : (tensor<8x4x16x32xf32>, tensor<8x4x16x96xf32>, tensor<8x4xi32>) -> tensor<8x32x96xf32>`
    Constraints: (C1) lhs and rhs have rank 4 and the same slots; (C2) the result
    has rank 3, with a matrix of the slots' widths for each expert; (C3) lhs and
    rhs have one element type; (C4) there is a count for each expert and group.
  }];
  let arguments = (ins DTC_Float:$lhs, DTC_Float:$rhs, RankedTensorOf<[I32]>:$counts,
                       I64Attr:$group_rows);
  let results = (outs DTC_Float:$result);
  let hasVerifier = 1;
}

#endif // DTC_DIALECT_EXPERTOPS_TD
