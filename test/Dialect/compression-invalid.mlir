// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @terms(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{has rows 'tensor<2x8x2xf32>' of values 'tensor<8x4xf32>', expected one more dimension in front}}
  %t = dtc.terms %x over "dp" : tensor<8x4xf32> -> tensor<2x8x2xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
func.func @sum(%x: tensor<4xf32, #r>) {
  // expected-error @+1 {{has a value of layout #dtc.layout<#dtc.mesh<dp=2, mb=1>>, expected partial(sum) or each on dp}}
  %t = dtc.terms %x over "dp" : tensor<4xf32, #r> -> tensor<2x4xf32, #dp>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial(sum)>
#dp = #dtc.layout<#mesh, dp: split(0)>
#dp1 = #dtc.layout<#mesh, dp: split(1)>
func.func @size(%x: tensor<4xf32, #p>) {
  // expected-error @+1 {{has 4 rows, expected 2, the size of axis dp}}
  %t = dtc.terms %x over "dp" : tensor<4xf32, #p> -> tensor<4x4xf32, #dp>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial(sum)>
#dp1 = #dtc.layout<#mesh, dp: split(1)>
func.func @layout(%x: tensor<4xf32, #p>) {
  // expected-error @+1 {{has rows of layout #dtc.layout<#dtc.mesh<dp=2, mb=1>, dp: split(1)>, expected #dtc.layout<#dtc.mesh<dp=2, mb=1>, dp: split(0)>}}
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

// -----

func.func @own_row(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{has rows 'tensor<2x8xf32>' of values 'tensor<4xf32>', expected one more dimension in front}}
  %y = dtc.own_row %x over "dp" : tensor<2x8xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#dp = #dtc.layout<#mesh, dp: split(0)>
func.func @row_without_layout(%x: tensor<2x8xf32, #dp>) {
  // expected-error @+1 {{has a layout on one side, expected two or none}}
  %y = dtc.own_row %x over "dp" : tensor<2x8xf32, #dp> -> tensor<8xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#dp = #dtc.layout<#mesh, dp: split(0)>
#each = #dtc.layout<#mesh, dp: each>
func.func @rows(%x: tensor<4x8xf32, #dp>) {
  // expected-error @+1 {{has 4 rows, expected 2, the size of axis dp}}
  %y = dtc.own_row %x over "dp" : tensor<4x8xf32, #dp> -> tensor<8xf32, #each>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#dp = #dtc.layout<#mesh, dp: split(0)>
#r = #dtc.layout<#mesh>
func.func @whole_row(%x: tensor<2x8xf32, #dp>) {
  // expected-error @+1 {{has a value of layout #dtc.layout<#dtc.mesh<dp=2, mb=1>>, expected each on dp}}
  %y = dtc.own_row %x over "dp" : tensor<2x8xf32, #dp> -> tensor<8xf32, #r>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#r = #dtc.layout<#mesh>
#each = #dtc.layout<#mesh, dp: each>
func.func @whole_rows(%x: tensor<2x8xf32, #r>) {
  // expected-error @+1 {{has rows of layout #dtc.layout<#dtc.mesh<dp=2, mb=1>>, expected #dtc.layout<#dtc.mesh<dp=2, mb=1>, dp: split(0)>}}
  %y = dtc.own_row %x over "dp" : tensor<2x8xf32, #r> -> tensor<8xf32, #each>
  return
}

// -----

func.func @permute_rows(%x: tensor<3x8xf32>) {
  // expected-error @+1 {{has sources array<i64: 0, 0, 1>, expected each of 0 to 2 once}}
  %y = dtc.permute_rows %x {sources = array<i64: 0, 0, 1>} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

// Values of positions do not mix with a value that is divided among them.
#mesh = #dtc.mesh<dp=2, mb=1>
#dp = #dtc.layout<#mesh, dp: split(0)>
#each = #dtc.layout<#mesh, dp: each>
func.func @mixed(%x: tensor<8xf32, #dp>, %w: tensor<8xf32, #each>) {
  // expected-error @+1 {{cannot take these operand layouts: each position of axis dp has an operand of its own, and another operand is divided among them}}
  %y = dtc.add %x, %w : (tensor<8xf32, #dp>, tensor<8xf32, #each>) -> tensor<8xf32, #each>
  return
}

// -----

func.func @shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{makes 'tensor<9xf32>' of 'tensor<8xf32>', expected one shape}}
  %y = dtc.pushed %x over "dp" : tensor<8xf32> -> tensor<9xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=1>
#each = #dtc.layout<#mesh, dp: each>
func.func @each(%x: tensor<8xf32, #each>) {
  // expected-error @+1 {{makes 'tensor<8xf32, #dtc.layout<#dtc.mesh<dp=2, mb=1>, dp: each>>' of 'tensor<8xf32, #dtc.layout<#dtc.mesh<dp=2, mb=1>, dp: each>>', expected an operand that is each on dp and a result that is the same on all of it}}
  %y = dtc.pushed %x over "dp" : tensor<8xf32, #each> -> tensor<8xf32, #each>
  return
}
