// The errors of the interface verifier, one case for each message.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

#mesh = #dtc.mesh<dp=2, tp=2>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
func.func @result(%x: tensor<8x4xf32, #d>) {
  // expected-error@below {{result 0 has layout #dtc.layout<#dtc.mesh<dp=2, tp=2>>, expected #dtc.layout<#dtc.mesh<dp=2, tp=2>, dp: split(0)> from its operands by the op's sharding rule}}
  %0 = dtc.relu %x : (tensor<8x4xf32, #d>) -> tensor<8x4xf32, #r>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#d = #dtc.layout<#mesh, dp: split(0)>
func.func @some(%x: tensor<8x4xf32, #d>) {
  // expected-error@below {{has layouts on some operands and results, expected layouts on all of them or on none}}
  %0 = dtc.relu %x : (tensor<8x4xf32, #d>) -> tensor<8x4xf32>
  return
}

// -----

#d = #dtc.layout<#dtc.mesh<dp=2>, dp: split(0)>
#e = #dtc.layout<#dtc.mesh<dp=4>, dp: split(0)>
func.func @meshes(%x: tensor<8x4xf32, #d>) {
  // expected-error@below {{mixes the meshes #dtc.mesh<dp=2> and #dtc.mesh<dp=4>}}
  %0 = dtc.relu %x : (tensor<8x4xf32, #d>) -> tensor<8x4xf32, #e>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#p = #dtc.layout<#mesh, dp: partial>
func.func @nonlinear(%x: tensor<8x4xf32, #p>) {
  // expected-error@below {{operand 0 is partial on dp, and the op is not linear in it alone}}
  %0 = dtc.relu %x : (tensor<8x4xf32, #p>) -> tensor<8x4xf32, #p>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
func.func @partial_plus_replicated(%x: tensor<8x4xf32, #p>, %y: tensor<8x4xf32, #r>) {
  // expected-error@below {{the operands that are partial together must be those of one sum}}
  %0 = dtc.add %x, %y : (tensor<8x4xf32, #p>, tensor<8x4xf32, #r>) -> tensor<8x4xf32, #p>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#p = #dtc.layout<#mesh, dp: partial>
func.func @partial_times_partial(%x: tensor<8x4xf32, #p>) {
  // expected-error@below {{is partial on dp}}
  %0 = dtc.mul %x, %x : (tensor<8x4xf32, #p>, tensor<8x4xf32, #p>) -> tensor<8x4xf32, #p>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
func.func @disagree(%x: tensor<8x4xf32, #d>, %y: tensor<8x4xf32, #r>) {
  // expected-error@below {{operand 1 is not split where another operand is split by dp}}
  %0 = dtc.add %x, %y : (tensor<8x4xf32, #d>, tensor<8x4xf32, #r>) -> tensor<8x4xf32, #d>
  return
}

// -----

#mesh = #dtc.mesh<tp=2>
#t = #dtc.layout<#mesh, tp: split(1)>
func.func @whole(%x: tensor<8x4xf32, #t>) {
  // expected-error@below {{axis tp splits a dimension that this op needs whole}}
  %0 = dtc.softmax %x : (tensor<8x4xf32, #t>) -> tensor<8x4xf32, #t>
  return
}

// -----

// Only axes of the batch split a dimension in pieces.
#mesh = #dtc.mesh<tp=2>
#t = #dtc.layout<#mesh, tp: split(0)>
#t1 = #dtc.layout<#mesh, tp: split(1)>
func.func @inside(%x: tensor<8x4xf32, #t1>) {
  // expected-error@below {{a result's dimension would be split inside, not at its major factor}}
  %0 = dtc.reshape %x : (tensor<8x4xf32, #t1>) -> tensor<32xf32, #t>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#d = #dtc.layout<#mesh, dp: split(0)>
#d1 = #dtc.layout<#mesh, dp: split(1)>
func.func @twice(%x: tensor<8x4xf32, #d>, %y: tensor<4x8xf32, #d1>) {
  // expected-error@below {{axis dp splits two dimensions}}
  %0 = dtc.matmul %x, %y : (tensor<8x4xf32, #d>, tensor<4x8xf32, #d1>) -> tensor<8x8xf32, #d>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=2>
#b = #dtc.layout<#mesh, mb: partial, dp: partial>
#p = #dtc.layout<#mesh, dp: partial>
#r = #dtc.layout<#mesh>
func.func @sum(%x: tensor<8xf32, #p>, %y: tensor<8xf32, #b>) {
  // expected-error@below {{operand has layout #dtc.layout<#dtc.mesh<dp=2, mb=2>, dp: partial(sum)>, expected partial(sum) on mb}}
  %0 = dtc.sum_microbatches %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
func.func @all_reduce(%x: tensor<8xf32, #d>) {
  // expected-error@below {{expected partial(sum) on dp}}
  %0 = dtc.all_reduce sum %x over ["dp"] : (tensor<8xf32, #d>) -> tensor<8xf32, #r>
  return
}

// -----

#mesh = #dtc.mesh<dp=2>
#p = #dtc.layout<#mesh, dp: partial>
#r = #dtc.layout<#mesh>
func.func @reshard(%x: tensor<8xf32, #r>) {
  // expected-error@below {{makes the value partial on dp, which it was not}}
  %0 = dtc.reshard %x : tensor<8xf32, #r> -> tensor<8xf32, #p>
  return
}

// -----

#mesh = #dtc.mesh<pp=2>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, pp: partial>
func.func @as_partial(%x: tensor<f64, #p>) {
  // expected-error@below {{expected none on "pp"}}
  %0 = dtc.as_partial %x over ["pp"] : tensor<f64, #p> -> tensor<f64, #p>
  return
}

// -----

// Windows overlap: heights are needed whole.
#mesh = #dtc.mesh<tp=2>
#r = #dtc.layout<#mesh>
#h = #dtc.layout<#mesh, tp: split(1)>
func.func @height(%x: tensor<2x6x6x4xf32, #h>, %w: tensor<6x3x3x4xf32, #r>) {
  // expected-error@below {{cannot take these operand layouts: axis tp splits a dimension that this op needs whole}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32, #h>, tensor<6x3x3x4xf32, #r>) -> tensor<2x4x4x6xf32, #h>
  return
}

// -----

// A largest element of a sum is none of its parts'.
#mesh = #dtc.mesh<tp=2>
#p = #dtc.layout<#mesh, tp: partial>
func.func @largest(%x: tensor<2x6x6x4xf32, #p>) {
  // expected-error@below {{operand 0 is partial on tp, and the op is not linear in it alone}}
  %0 = dtc.max_pool2d %x kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32, #p>) -> tensor<2x3x3x4xf32, #p>
  return
}

// -----

#mesh = #dtc.mesh<dp=3>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
func.func @whole(%x: tensor<24xf32, #d>) {
  // expected-error@below {{operand 0 is split along a dimension where this op needs it whole}}
  %0 = dtc.reshape %x : (tensor<24xf32, #d>) -> tensor<4x6xf32, #r>
  return
}

// -----

#mesh = #dtc.mesh<tp=2>
#p = #dtc.layout<#mesh, tp: partial>
#s = #dtc.layout<#mesh, tp: split(1)>
func.func @split_and_partial(%x: tensor<8x4xf32, #p>, %w: tensor<4x6xf32, #s>) {
  // expected-error@below {{a result would be both split and partial on tp}}
  %0 = dtc.matmul %x, %w : (tensor<8x4xf32, #p>, tensor<4x6xf32, #s>) -> tensor<8x6xf32, #s>
  return
}
