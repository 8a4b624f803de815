// RUN: dtc-opt %s --dtc-differentiate --verify-diagnostics --split-input-file

// All ops without a gradient are reported at once, those outside the path not.

func.func @step(%z: tensor<2x4xf32> {dtc.parameter = "z"}, %t: tensor<2xi64> {dtc.input = "labels"},
                %l: tensor<f64> {dtc.input = "l"}, %x: tensor<2x4xf32> {dtc.input = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.cross_entropy_grad %x, %t, %l : (tensor<2x4xf32>, tensor<2xi64>, tensor<f64>) -> tensor<2x4xf32>
  // expected-error @below {{'dtc.cross_entropy_grad' op has no gradient, and lies between parameter 'z' and the loss; freeze the parameters before it}}
  %1 = dtc.cross_entropy_grad %z, %t, %l : (tensor<2x4xf32>, tensor<2xi64>, tensor<f64>) -> tensor<2x4xf32>
  %2 = dtc.add %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-error @below {{'dtc.cross_entropy_grad' op has no gradient}}
  %3 = dtc.cross_entropy_grad %2, %t, %l : (tensor<2x4xf32>, tensor<2xi64>, tensor<f64>) -> tensor<2x4xf32>
  %4 = dtc.sum_squares %3 : (tensor<2x4xf32>) -> tensor<f64>
  return %4 : tensor<f64>
}

// -----

// expected-error @below {{there is nothing to train: the loss depends on no trainable parameter; take it of another output with --loss-of NAME, freeze fewer parameters with --freeze GLOB, or name inputs that are parameters with --parameter GLOB}}
func.func @step(%x: tensor<4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.sum_squares %x : (tensor<4xf32>) -> tensor<f64>
  return %0 : tensor<f64>
}

// -----

// expected-error @below {{there is nothing to train: the loss is of no parameter; if some of the model's inputs are parameters, name them with --parameter GLOB}}
func.func @step(%x: tensor<4xf32> {dtc.input = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.sum_squares %x : (tensor<4xf32>) -> tensor<f64>
  return %0 : tensor<f64>
}

// -----

func.func @step(%w: tensor<4xf32> {dtc.parameter = "w"},
                // expected-warning @below {{parameter 'unused' does not influence the loss: it is not trained}}
                %u: tensor<4xf32> {dtc.parameter = "unused"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.sum_squares %w : (tensor<4xf32>) -> tensor<f64>
  return %0 : tensor<f64>
}

// -----

// expected-error @below {{no result with dtc.output = "loss" to differentiate}}
func.func @step(%w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
  return %w : tensor<4xf32>
}
