// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @terms(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{makes 'tensor<2x8x2xf32>' of 'tensor<8x4xf32>', expected one more dimension in front, for the terms}}
  %t = dtc.terms %x over "dp" : tensor<8x4xf32> -> tensor<2x8x2xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
func.func @sum(%x: tensor<4xf32, #r>) {
  // expected-error @+1 {{expected partial(sum) on dp}}
  %t = dtc.terms %x over "dp" : tensor<4xf32, #r> -> tensor<2x4xf32, #dp>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial(sum)>
#dp = #dtc.layout<#mesh, dp: split(0)>
#dp1 = #dtc.layout<#mesh, dp: split(1)>
func.func @size(%x: tensor<4xf32, #p>) {
  // expected-error @+1 {{makes 4 terms, expected 2, the size of axis dp}}
  %t = dtc.terms %x over "dp" : tensor<4xf32, #p> -> tensor<4x4xf32, #dp>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial(sum)>
#dp1 = #dtc.layout<#mesh, dp: split(1)>
func.func @layout(%x: tensor<4xf32, #p>) {
  // expected-error @+1 {{result has layout}}
  %t = dtc.terms %x over "dp" : tensor<4xf32, #p> -> tensor<2x4xf32, #dp1>
  return
}

// -----

func.func @rows(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{makes 'tensor<2x9xi32>' of 'tensor<2x8xf32>', expected the same rows with 1 or more of their elements}}
  %i = dtc.top_k %x : (tensor<2x8xf32>) -> tensor<2x9xi32>
  return
}

// -----

func.func @vector(%x: tensor<8xf32>) {
  // expected-error @+1 {{takes 'tensor<8xf32>', expected a matrix}}
  %q = dtc.orthonormalize %x : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @keep(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{keeps 'tensor<4xf32>' in 'tensor<8xf32>', expected one type}}
  %q = dtc.keep %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial(sum)>
func.func @one_side(%x: tensor<4xf32, #p>) {
  // expected-error @+1 {{has a layout on one side, expected two or none}}
  %t = dtc.terms %x over "dp" : tensor<4xf32, #p> -> tensor<2x4xf32>
  return
}

// -----

func.func @sum_shape(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{makes 'tensor<4xf32>' of 'tensor<2x8xf32>', expected its shape without dimension 0}}
  %g = dtc.sum_terms %x : (tensor<2x8xf32>) -> tensor<4xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#r = #dtc.layout<#mesh>
func.func @whole(%x: tensor<2x8xf32, #r>) {
  // expected-error @+1 {{adds the terms of 'tensor<2x8xf32, #dtc.layout<#dtc.mesh<dp=2, mb=1>>>', expected axes that split dimension 0 into single terms}}
  %g = dtc.sum_terms %x : (tensor<2x8xf32, #r>) -> tensor<8xf32, #r>
  return
}
