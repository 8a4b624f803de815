// The errors of the verifiers of cross_entropy and its gradient, by constraint.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

// C1
func.func @labels(%z: tensor<8x4xf32>, %t: tensor<4xi64>) {
  // expected-error@below {{labels are 'tensor<4xi64>', expected the shape of logits 'tensor<8x4xf32>' without the last dimension}}
  %0 = dtc.cross_entropy %z, %t : (tensor<8x4xf32>, tensor<4xi64>) -> tensor<f64>
  return
}

// -----

// C2
func.func @classes(%z: tensor<8x4xf32>, %t: tensor<8xi64>) {
  // expected-error@below {{has 5 classes, expected 1 to 4}}
  %0 = dtc.cross_entropy %z, %t {classes = 5} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<f64>
  return
}

// -----

// C2 of the gradient
func.func @classes(%z: tensor<8x4xf32>, %t: tensor<8xi64>, %d: tensor<f64>) {
  // expected-error@below {{has 0 classes, expected 1 to 4}}
  %0 = dtc.cross_entropy_grad %z, %t, %d {classes = 0} : (tensor<8x4xf32>, tensor<8xi64>, tensor<f64>) -> tensor<8x4xf32>
  return
}
