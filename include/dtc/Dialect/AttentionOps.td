//===- AttentionOps.td - attention as one op ---------------*- tablegen -*-===//
//
// Queries are [batch, queries, heads, width], keys and values [batch, keys,
// groups, width], which is the order of a projection's result. A single
// projection for all three gives a packed tensor.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_ATTENTIONOPS_TD
#define DTC_DIALECT_ATTENTIONOPS_TD

include "dtc/Dialect/OpBase.td"

class DTC_AttentionBase<string name>
    : DTC_InferredOp<name, [
        DTC_Product,
        DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let hasVerifier = 1;
  code sizes = [{
    /// The sizes of the attention, by local shapes.
    ::dtc::AttentionSizes getSizes();
  }];
}

def DTC_AttentionOp : DTC_AttentionBase<"attention"> {
  let summary = "scaled dot-product attention";
  let description = [{
    For each sample b and head h, with g = h / (heads / groups):

        score[t, s] = scale * (queries[b, t, h, :] . keys[b, s, g, :]) + mask[b, h, t, s]
        lse[b, h, t] = log(sum over s of exp(score[t, s]))
        result[b, t, h, :] = sum over s of exp(score[t, s] - lse[b, h, t]) * values[b, s, g, :]

    If `causal`, s goes up to t only. A mask broadcasts to the scores; -inf hides
    a key. A query that sees no key has result 0, lse +inf and no gradient.
    Scores and lse have the type of sums: f32 for 16-bit operands. An attention
    with `divided` becomes matmuls, because the target's library lacks it. (Vaswani
    et al., arXiv 1706.03762; grouped queries: Ainslie et al., arXiv 2305.13245;
    lse for the backward pass: Dao et al., arXiv 2205.14135.)

    Example: `%o, %lse = dtc.attention %q, %k, %v {causal, scale = 1.25e-1 : f64} : (tensor<2x16x4x64xf32>, tensor<2x16x4x64xf32>, tensor<2x16x4x64xf32>) -> (tensor<2x16x4x64xf32>, tensor<2x4x16xf32>)`
    Constraints: (C1) ranks are 4; batch, keys, groups and the width of the
    product agree; (C2) groups divide heads; (C3) each dimension of the mask is
    1 or that of the scores, its last that of the keys; (C4) a causal attention
    has as many queries as keys; (C5) the mask has the element type of queries.
  }];
  let arguments = (ins DTC_Float:$queries, DTC_Float:$keys, DTC_Float:$values,
                       Optional<DTC_Float>:$mask, F64Attr:$scale, UnitAttr:$causal,
                       UnitAttr:$divided);
  let results = (outs DTC_Float:$result, DTC_Float:$lse);
  let extraClassDeclaration = inferred # sizes;
}

def DTC_AttentionGradOp : DTC_AttentionBase<"attention_grad"> {
  let summary = "gradient of attention with respect to queries, keys and values";
  let description = [{
    With p[t, s] = exp(score[t, s] - lse[t]) and
    ds[t, s] = p[t, s] * (dresult[t, :] . values[s, :] - dresult[t, :] . result[t, :]),
    per sample and head,

        dqueries[t, :] = scale * sum over s of ds[t, s] * keys[s, :]
        dkeys[s, :] = scale * sum over t of ds[t, s] * queries[t, :]
        dvalues[s, :] = sum over t of p[t, s] * dresult[t, :]

    where dkeys and dvalues also sum over the heads of a group. The mask has no
    gradient.

    Example: `%dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %o, %lse, %do {causal, scale = 1.25e-1 : f64} : (tensor<2x16x4x64xf32>, tensor<2x16x4x64xf32>, tensor<2x16x4x64xf32>, tensor<2x16x4x64xf32>, tensor<2x4x16xf32>, tensor<2x16x4x64xf32>) -> (tensor<2x16x4x64xf32>, tensor<2x16x4x64xf32>, tensor<2x16x4x64xf32>)`
    Constraints: as attention.
  }];
  let arguments = (ins DTC_Float:$queries, DTC_Float:$keys, DTC_Float:$values,
                       Optional<DTC_Float>:$mask, DTC_Float:$result, DTC_Float:$lse,
                       DTC_Float:$dresult, F64Attr:$scale, UnitAttr:$causal,
                       UnitAttr:$divided);
  let results = (outs DTC_Float:$dqueries, DTC_Float:$dkeys, DTC_Float:$dvalues);
  let extraClassDeclaration = inferred # sizes;
}

def DTC_PackedAttentionOp : DTC_AttentionBase<"packed_attention"> {
  let summary = "attention of queries, keys and values in one tensor";
  let description = [{
    `dtc.attention` without a mask, with as many groups as heads, of the queries
    packed[:, :, 0], the keys packed[:, :, 1] and the values packed[:, :, 2]:
    packed is [batch, tokens, 3, heads, width], as the projection by one weight
    makes it. With `by_head` it is [batch, tokens, heads, 3, width].

    Made by `PackAttention`, for targets that have it; layouts are known.

    Example: `%o, %lse = dtc.packed_attention %qkv {causal, scale = 1.25e-1 : f64} : (tensor<2x16x3x4x64xbf16>) -> (tensor<2x16x4x64xbf16>, tensor<2x4x16xf32>)`
    Constraints: (C1) packed has rank 5; (C2) it has 3 parts.
  }];
  let arguments = (ins DTC_Float:$packed, F64Attr:$scale, UnitAttr:$causal,
                       UnitAttr:$by_head);
  let results = (outs DTC_Float:$result, DTC_Float:$lse);
  let extraClassDeclaration = inferred # sizes;
}

def DTC_PackedAttentionGradOp : DTC_AttentionBase<"packed_attention_grad"> {
  let summary = "gradient of attention by queries, keys and values in one tensor";
  let description = [{
    Computes the results of `dtc.attention_grad` in one tensor, laid out as `packed`.

    Example: `%dqkv = dtc.packed_attention_grad %qkv, %o, %lse, %do {causal, scale = 1.25e-1 : f64} : (tensor<2x16x3x4x64xbf16>, tensor<2x16x4x64xbf16>, tensor<2x4x16xf32>, tensor<2x16x4x64xbf16>) -> tensor<2x16x3x4x64xbf16>`
    Constraints: as packed_attention; (C3) result and lse have the shapes that
    it gives them, and dresult that of result.
  }];
  let arguments = (ins DTC_Float:$packed, DTC_Float:$result, DTC_Float:$lse,
                       DTC_Float:$dresult, F64Attr:$scale, UnitAttr:$causal,
                       UnitAttr:$by_head);
  let results = (outs DTC_Float:$dpacked);
  let extraClassDeclaration = inferred # sizes;
}

#endif // DTC_DIALECT_ATTENTIONOPS_TD
