// The sharding rule of attention, checked by the verifier of every op.
// RUN: dtc-opt %s --verify-roundtrip | FileCheck %s

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#bh = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(2)>
#bl = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(1)>
#bt = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(1)>
#bs = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(2)>
#bp = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: partial>

// Samples and groups of heads are parallel; a mask that all share is whole.
// CHECK-LABEL: func @heads
func.func @heads(%q: tensor<8x16x4x6xf32, #bh>, %k: tensor<8x16x2x6xf32, #bh>, %m: tensor<1x1x16x16xf32, #dtc.layout<#mesh>>, %y: tensor<8x16x4x6xf32, #bh>, %lse: tensor<8x4x16xf32, #bl>) {
  %0:2 = dtc.attention %q, %k, %k {causal, scale = 1.0 : f64} : (tensor<8x16x4x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>) -> (tensor<8x16x4x6xf32, #bh>, tensor<8x4x16xf32, #bl>)
  %1:2 = dtc.attention %q, %k, %k, %m {scale = 1.0 : f64} : (tensor<8x16x4x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>, tensor<1x1x16x16xf32, #dtc.layout<#mesh>>) -> (tensor<8x16x4x6xf32, #bh>, tensor<8x4x16xf32, #bl>)
  %2:3 = dtc.attention_grad %q, %k, %k, %y, %lse, %y {causal, scale = 1.0 : f64} : (tensor<8x16x4x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>, tensor<8x16x4x6xf32, #bh>, tensor<8x4x16xf32, #bl>, tensor<8x16x4x6xf32, #bh>) -> (tensor<8x16x4x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>, tensor<8x16x2x6xf32, #bh>)
  return
}

// So are queries that are not causal. Gradients of keys and values are summed
// over them.
// CHECK-LABEL: func @queries
func.func @queries(%q: tensor<8x16x4x6xf32, #bt>, %k: tensor<8x16x4x6xf32, #b>, %y: tensor<8x16x4x6xf32, #bt>, %lse: tensor<8x4x16xf32, #bs>) {
  %0:2 = dtc.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<8x16x4x6xf32, #bt>, tensor<8x16x4x6xf32, #b>, tensor<8x16x4x6xf32, #b>) -> (tensor<8x16x4x6xf32, #bt>, tensor<8x4x16xf32, #bs>)
  %1:3 = dtc.attention_grad %q, %k, %k, %y, %lse, %y {scale = 1.0 : f64} : (tensor<8x16x4x6xf32, #bt>, tensor<8x16x4x6xf32, #b>, tensor<8x16x4x6xf32, #b>, tensor<8x16x4x6xf32, #bt>, tensor<8x4x16xf32, #bs>, tensor<8x16x4x6xf32, #bt>) -> (tensor<8x16x4x6xf32, #bt>, tensor<8x16x4x6xf32, #bp>, tensor<8x16x4x6xf32, #bp>)
  return
}

// Packed: samples and heads are parallel.
#packed = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(3)>
#packed_by_head = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(2)>

// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<8x16x3x4x16xbf16, #packed>, %y: tensor<8x16x4x3x16xbf16, #packed_by_head>) {
  // CHECK: dtc.packed_attention
  %o, %lse = dtc.packed_attention %x {causal, scale = 2.5e-1 : f64} : (tensor<8x16x3x4x16xbf16, #packed>) -> (tensor<8x16x4x16xbf16, #bh>, tensor<8x4x16xf32, #bl>)
  // CHECK: dtc.packed_attention_grad
  %d = dtc.packed_attention_grad %x, %o, %lse, %o {causal, scale = 2.5e-1 : f64} : (tensor<8x16x3x4x16xbf16, #packed>, tensor<8x16x4x16xbf16, #bh>, tensor<8x4x16xf32, #bl>, tensor<8x16x4x16xbf16, #bh>) -> tensor<8x16x3x4x16xbf16, #packed>
  // CHECK: dtc.packed_attention
  %p, %lse2 = dtc.packed_attention %y {by_head, scale = 2.5e-1 : f64} : (tensor<8x16x4x3x16xbf16, #packed_by_head>) -> (tensor<8x16x4x16xbf16, #bh>, tensor<8x4x16xf32, #bl>)
  return
}
