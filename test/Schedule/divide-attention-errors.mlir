// RUN: dtc-opt %s --dtc-divide-attention --split-input-file --verify-diagnostics

func.func @plain(%q: tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32> {
  // expected-error@+1 {{has no layouts, expected a function of a stage}}
  %y, %lse = dtc.attention %q, %q, %q {divided, scale = 1.0 : f64} : (tensor<4x8x2x8xf32>, tensor<4x8x2x8xf32>, tensor<4x8x2x8xf32>) -> (tensor<4x8x2x8xf32>, tensor<4x2x8xf32>)
  return %y : tensor<4x8x2x8xf32>
}

// -----

// The queries of two heads are the rows of one matrix, of which a rank would
// have pieces.
#mesh = #dtc.mesh<tp=2>
#all = #dtc.layout<#mesh>
#queries = #dtc.layout<#mesh, tp: split(1)>
#rows = #dtc.layout<#mesh, tp: split(2)>
func.func @queries(%q: tensor<4x8x2x8xf32, #queries>, %k: tensor<4x8x1x8xf32, #all>) -> tensor<4x8x2x8xf32, #queries> {
  // expected-error@+1 {{cannot be divided: }}
  %y, %lse = dtc.attention %q, %k, %k {divided, scale = 1.0 : f64} : (tensor<4x8x2x8xf32, #queries>, tensor<4x8x1x8xf32, #all>, tensor<4x8x1x8xf32, #all>) -> (tensor<4x8x2x8xf32, #queries>, tensor<4x2x8xf32, #rows>)
  return %y : tensor<4x8x2x8xf32, #queries>
}
