// The errors of the verifiers of layout changes and of collectives.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8x4xf32, #partial>) {
  // expected-error@below {{changes 'tensor<8x4xf32, #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>, dp: partial(sum)>>' to 'tensor<4x8xf32, #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>>>', expected a change of layout only}}
  %0 = dtc.reshard %x : tensor<8x4xf32, #partial> -> tensor<4x8xf32, #r>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8x4xf32, #r>) {
  // expected-error@below {{needs layouts over one mesh on both sides, found 'tensor<8x4xf32, #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>>>' and 'tensor<8x4xf32, #dtc.layout<#dtc.mesh<dp=4>>>'}}
  %0 = dtc.reshard %x : tensor<8x4xf32, #r> -> tensor<8x4xf32, #other>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8x4xf32, #partial>) {
  // expected-error@below {{result has layout #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>, dp: split(0)>, expected #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>>}}
  %0 = dtc.all_reduce sum %x over ["dp"] : (tensor<8x4xf32, #partial>) -> (tensor<8x4xf32, #dp>)
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8x4xf32, #dp>) {
  // expected-error@below {{operand has layout #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>, dp: split(0)>, expected none on "dp"}}
  %0 = dtc.as_partial %x over ["dp"] : tensor<8x4xf32, #dp> -> tensor<8x4xf32, #partial>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8x4xf32, #dp>) {
  // expected-error@below {{operand is 'tensor<8x4xf32, #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>, dp: split(0)>>', expected partial(sum) on dp}}
  %0 = dtc.all_reduce sum %x over ["dp"] : (tensor<8x4xf32, #dp>) -> (tensor<8x4xf32, #r>)
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f() {
  // expected-error@below {{has 0 operands and 0 results, expected as many, at least one}}
  "dtc.all_reduce"() {axes = ["dp"], reduction = #dtc<reduction sum>} : () -> ()
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8xf32, #partial>, %y: tensor<8xf64, #partial>) {
  // expected-error@below {{mixes element types 'f32' and 'f64' in one bucket}}
  %0:2 = dtc.all_reduce sum %x, %y over ["dp"] : (tensor<8xf32, #partial>, tensor<8xf64, #partial>) -> (tensor<8xf32, #r>, tensor<8xf64, #r>)
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8x4xf32, #dp>) {
  // expected-error@below {{operand has layout #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>, dp: split(0)>, expected ["dp"] as the minor splits of dimension 1}}
  %0 = dtc.all_gather %x over ["dp"] dim 1 : (tensor<8x4xf32, #dp>) -> tensor<8x4xf32, #r>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial(sum)>
#other = #dtc.layout<#dtc.mesh<dp=4>>
func.func @f(%x: tensor<8x4xf32, #r>) {
  // expected-error@below {{result has layout #dtc.layout<#dtc.mesh<dp=2, tp=2, mb=2>, dp: split(0)>, expected that of the operand with ["dp"] as the minor splits of dimension 1}}
  %0 = dtc.local_slice %x over ["dp"] dim 1 : (tensor<8x4xf32, #r>) -> tensor<8x4xf32, #dp>
  return
}
