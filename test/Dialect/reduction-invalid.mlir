// The errors of the verifiers of reductions, norms and matrix products.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 2 is not a dimension of 'tensor<4x8xf32>'}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.reduce_sum %x axes [2] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axes [1, 0] do not ascend}}
  %0 = dtc.reduce_max %x axes [1, 0] : (tensor<4x8xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error@below {{scale or bias is 'tensor<4xf32>', expected the last dimension of 'tensor<4x8xf32>'}}
  %y, %mean, %rstd = dtc.layer_norm %x, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x4x8xf32>, %y: tensor<8x3xf32>) {
  // expected-error@below {{matmul of 'tensor<2x4x8xf32>' and 'tensor<8x3xf32>', expected the same rank of at least 2 and the same leading dimensions}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.matmul %x, %y : (tensor<2x4x8xf32>, tensor<8x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<3x8xf32>) {
  // expected-error@below {{matmul of 'tensor<4x8xf32>' and 'tensor<3x8xf32>' contracts sizes 8 and 3}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.matmul %x, %y : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
  return
}
