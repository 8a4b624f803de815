// The errors of the verifiers of gather and scatter_add, by constraint.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

// C1
func.func @starts(%t: tensor<6x4xf32>, %i: tensor<3xi64>, %s: tensor<4xi64>) {
  // expected-error@below {{starts are 'tensor<4xi64>', expected rank 1, the element type of 'tensor<3xi64>', and a number that divides 6}}
  %0 = dtc.gather %t, %i, %s : (tensor<6x4xf32>, tensor<3xi64>, tensor<4xi64>) -> tensor<3x4xf32>
  return
}

// -----

// C2
func.func @batch(%t: tensor<2x6x4xf32>, %i: tensor<3x5xi64>) {
  // expected-error@below {{gather from 'tensor<2x6x4xf32>' by 'tensor<3x5xi64>', expected 1 equal batch dimensions of both, and one more of the table}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.gather %t, %i {batch_dims = 1 : i64} : (tensor<2x6x4xf32>, tensor<3x5xi64>) -> tensor<3x5x4xf32>
  return
}

// -----

// C3
func.func @parts(%t: tensor<2x6x4xf32>, %i: tensor<2x5xi64>, %s: tensor<2xi64>) {
  // expected-error@below {{has starts and 1 batch dimensions, expected none}}
  %0 = dtc.gather %t, %i, %s {batch_dims = 1 : i64} : (tensor<2x6x4xf32>, tensor<2x5xi64>, tensor<2xi64>) -> tensor<2x5x4xf32>
  return
}

// -----

// C1
func.func @updates(%i: tensor<3xi64>, %u: tensor<3x5xf32>) {
  // expected-error@below {{updates are 'tensor<3x5xf32>', expected the shape [3, 4] of the indices followed by a table row}}
  %0 = dtc.scatter_add %i, %u : (tensor<3xi64>, tensor<3x5xf32>) -> tensor<6x4xf32>
  return
}

// -----

// C2
func.func @into_batch(%i: tensor<3x5xi64>, %u: tensor<3x5xf32>) {
  // expected-error@below {{scatters into 'tensor<2x6xf32>' by 'tensor<3x5xi64>', expected 1 equal batch dimensions of both, and one more of the result}}
  %0 = dtc.scatter_add %i, %u {batch_dims = 1 : i64} : (tensor<3x5xi64>, tensor<3x5xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @scalar(%t: tensor<f32>, %i: tensor<3xi64>) {
  // expected-error@below {{gather from a scalar}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.gather %t, %i : (tensor<f32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @one_hot(%i: tensor<3xi64>) {
  // expected-error@below {{result is 'tensor<4x8xi1>', expected the shape of 'tensor<3xi64>' and one dimension more}}
  %0 = dtc.one_hot %i : (tensor<3xi64>) -> tensor<4x8xi1>
  return
}

// -----

func.func @no_starts(%t: tensor<6x4xf32>, %i: tensor<3xi64>, %s: tensor<0xi64>) {
  // expected-error@below {{starts are 'tensor<0xi64>', expected rank 1, the element type of 'tensor<3xi64>', and a number that divides 6}}
  %0 = dtc.gather %t, %i, %s : (tensor<6x4xf32>, tensor<3xi64>, tensor<0xi64>) -> tensor<3x4xf32>
  return
}
