// RUN: dtc-opt %s --dtc-pack-attention --split-input-file | FileCheck %s

// Queries, keys and values side by side in each token, and their gradient.

module @by_part {
  func.func @step(%x: tensor<2x16x192xbf16>, %do: tensor<2x16x4x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x16x192xbf16>) {
    %p:3 = dtc.split %x axis 2 : (tensor<2x16x192xbf16>) -> (tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>)
    %k = dtc.reshape %p#1 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %q = dtc.reshape %p#0 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %v = dtc.reshape %p#2 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %o, %lse = dtc.attention %q, %k, %v {causal, scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %o, %lse, %do {causal, scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>, tensor<2x16x4x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>)
    %0 = dtc.reshape %dq : (tensor<2x16x4x16xbf16>) -> tensor<2x16x64xbf16>
    %1 = dtc.reshape %dk : (tensor<2x16x4x16xbf16>) -> tensor<2x16x64xbf16>
    %2 = dtc.reshape %dv : (tensor<2x16x4x16xbf16>) -> tensor<2x16x64xbf16>
    %dx = dtc.concat %0, %1, %2 axis 2 : (tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>) -> tensor<2x16x192xbf16>
    return %o, %dx : tensor<2x16x4x16xbf16>, tensor<2x16x192xbf16>
  }
}

// CHECK-LABEL: module @by_part
// CHECK-NEXT:    func.func @step(%[[X:.*]]: tensor<2x16x192xbf16>, %[[DO:.*]]: tensor<2x16x4x16xbf16>)
// CHECK-NEXT:      %[[P:.*]] = dtc.reshape %[[X]] : (tensor<2x16x192xbf16>) -> tensor<2x16x3x4x16xbf16>
// CHECK-NEXT:      %[[O:.*]], %[[LSE:.*]] = dtc.packed_attention %[[P]] {causal, scale = 2.500000e-01 : f64}
// CHECK-NEXT:      %[[DP:.*]] = dtc.packed_attention_grad %[[P]], %[[O]], %[[LSE]], %[[DO]] {causal, scale = 2.500000e-01 : f64}
// CHECK-NEXT:      %[[DX:.*]] = dtc.reshape %[[DP]] : (tensor<2x16x3x4x16xbf16>) -> tensor<2x16x192xbf16>
// CHECK-NEXT:      return %[[O]], %[[DX]]

// -----

// Each head has its own; samples and heads are split.

#mesh = #dtc.mesh<dp=2, tp=2, mb=1>
#heads = #dtc.layout<#mesh, dp: split(0), tp: split(2)>
#rows = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
module @by_head {
  func.func @step(%x: tensor<2x16x4x3x16xbf16, #heads>, %do: tensor<2x16x4x16xbf16, #heads>) -> (tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x3x16xbf16, #heads>) {
    %p:3 = dtc.split %x axis 3 : (tensor<2x16x4x3x16xbf16, #heads>) -> (tensor<2x16x4x1x16xbf16, #heads>, tensor<2x16x4x1x16xbf16, #heads>, tensor<2x16x4x1x16xbf16, #heads>)
    %q = dtc.reshape %p#0 : (tensor<2x16x4x1x16xbf16, #heads>) -> tensor<2x16x4x16xbf16, #heads>
    %k = dtc.reshape %p#1 : (tensor<2x16x4x1x16xbf16, #heads>) -> tensor<2x16x4x16xbf16, #heads>
    %v = dtc.reshape %p#2 : (tensor<2x16x4x1x16xbf16, #heads>) -> tensor<2x16x4x16xbf16, #heads>
    %o, %lse = dtc.attention %q, %k, %v {scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>) -> (tensor<2x16x4x16xbf16, #heads>, tensor<2x4x16xf32, #rows>)
    %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %o, %lse, %do {scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>, tensor<2x4x16xf32, #rows>, tensor<2x16x4x16xbf16, #heads>) -> (tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>)
    %0 = dtc.reshape %dq : (tensor<2x16x4x16xbf16, #heads>) -> tensor<2x16x4x1x16xbf16, #heads>
    %1 = dtc.reshape %dk : (tensor<2x16x4x16xbf16, #heads>) -> tensor<2x16x4x1x16xbf16, #heads>
    %2 = dtc.reshape %dv : (tensor<2x16x4x16xbf16, #heads>) -> tensor<2x16x4x1x16xbf16, #heads>
    %dx = dtc.concat %0, %1, %2 axis 3 : (tensor<2x16x4x1x16xbf16, #heads>, tensor<2x16x4x1x16xbf16, #heads>, tensor<2x16x4x1x16xbf16, #heads>) -> tensor<2x16x4x3x16xbf16, #heads>
    return %o, %dx : tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x3x16xbf16, #heads>
  }
}

// CHECK-LABEL: module @by_head
// CHECK:         dtc.packed_attention %{{.*}} {by_head, scale = 2.500000e-01 : f64} : (tensor<2x16x4x3x16xbf16, #[[HEADS:.*]]>) -> (tensor<2x16x4x16xbf16, #[[HEADS]]>, tensor<2x4x16xf32, #{{.*}}>)
// CHECK:         dtc.packed_attention_grad {{.*}} {by_head, {{.*}} -> tensor<2x16x4x3x16xbf16, #[[HEADS]]>
// CHECK-NOT:     dtc.concat

// -----

// Heads behind the parts are split.

#mesh = #dtc.mesh<dp=2, tp=2, mb=1>
#packed = #dtc.layout<#mesh, dp: split(0), tp: split(3)>
#heads = #dtc.layout<#mesh, dp: split(0), tp: split(2)>
#rows = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
module @split_heads {
  func.func @step(%x: tensor<2x16x3x4x16xbf16, #packed>) -> tensor<2x16x4x16xbf16, #heads> {
    %p:3 = dtc.split %x axis 2 : (tensor<2x16x3x4x16xbf16, #packed>) -> (tensor<2x16x1x4x16xbf16, #packed>, tensor<2x16x1x4x16xbf16, #packed>, tensor<2x16x1x4x16xbf16, #packed>)
    %q = dtc.reshape %p#0 : (tensor<2x16x1x4x16xbf16, #packed>) -> tensor<2x16x4x16xbf16, #heads>
    %k = dtc.reshape %p#1 : (tensor<2x16x1x4x16xbf16, #packed>) -> tensor<2x16x4x16xbf16, #heads>
    %v = dtc.reshape %p#2 : (tensor<2x16x1x4x16xbf16, #packed>) -> tensor<2x16x4x16xbf16, #heads>
    %o, %lse = dtc.attention %q, %k, %v {scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>, tensor<2x16x4x16xbf16, #heads>) -> (tensor<2x16x4x16xbf16, #heads>, tensor<2x4x16xf32, #rows>)
    return %o : tensor<2x16x4x16xbf16, #heads>
  }
}

// CHECK-LABEL: module @split_heads
// CHECK:         dtc.packed_attention %{{.*}} {scale = 2.500000e-01 : f64} : (tensor<2x16x3x4x16xbf16, #{{.*}}>)

// -----

// Queries that something else reads are needed apart; so are gradients that
// are not joined; keys before queries are another order.

module @apart {
  func.func @step(%x: tensor<2x16x192xbf16>, %y: tensor<2x16x192xbf16>, %do: tensor<2x16x4x16xbf16>)
      -> (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>) {
    %p:3 = dtc.split %x axis 2 : (tensor<2x16x192xbf16>) -> (tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>)
    %q = dtc.reshape %p#0 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %k = dtc.reshape %p#1 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %v = dtc.reshape %p#2 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %o, %lse = dtc.attention %q, %k, %v {scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>)

    %r:3 = dtc.split %y axis 2 : (tensor<2x16x192xbf16>) -> (tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>)
    %q2 = dtc.reshape %r#1 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %k2 = dtc.reshape %r#0 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %v2 = dtc.reshape %r#2 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %o2, %lse2 = dtc.attention %q2, %k2, %v2 {scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>)

    %s:3 = dtc.split %y axis 2 : (tensor<2x16x192xbf16>) -> (tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>)
    %q3 = dtc.reshape %s#0 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %k3 = dtc.reshape %s#1 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %v3 = dtc.reshape %s#2 : (tensor<2x16x64xbf16>) -> tensor<2x16x4x16xbf16>
    %o3, %lse3 = dtc.attention %q3, %k3, %v3 {scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = dtc.attention_grad %q3, %k3, %v3, %o3, %lse3, %do {scale = 2.5e-1 : f64} : (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>, tensor<2x16x4x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>)
    %sum = dtc.add %dq, %dk : (tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>) -> tensor<2x16x4x16xbf16>
    return %o, %q, %o2, %sum : tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x16x4x16xbf16>
  }
}

// CHECK-LABEL: module @apart
// CHECK-NOT:     packed_attention
