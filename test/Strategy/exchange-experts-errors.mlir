// RUN: dtc-opt %s --dtc-exchange-experts="ep=2 groups=4" --split-input-file --verify-diagnostics

// expected-error @+1 {{has no experts that --ep could split: expected products by matrices that a router chooses; leave out --ep}}
func.func @step(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

func.func @step(%x: tensor<8x4xf32>, %w: tensor<3x4x4xf32> {dtc.parameter = "w"}, %f: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @+1 {{has 3 experts, which --ep 2 does not divide; use a divisor of 3}}
  %e = dtc.cast %f : (tensor<8xf32>) -> tensor<8xi64>
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<8x4xf32>, tensor<3x4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @step(%x: tensor<6x4xf32>, %w: tensor<2x4x4xf32> {dtc.parameter = "w"}, %f: tensor<6xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{has 6 rows for experts, which the 4 parts of the batch do not divide}}
  %e = dtc.cast %f : (tensor<6xf32>) -> tensor<6xi64>
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<6x4xf32>, tensor<2x4x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// expected-error @+1 {{computes the weights of all experts, so --ep cannot split them: expected parameters [experts, .., ..]; leave out --ep}}
func.func @step(%x: tensor<8x4xf32>, %v: tensor<2x4x4xf32> {dtc.parameter = "v"}, %f: tensor<8xf32>) -> tensor<8x4xf32> {
  %w = dtc.tanh %v : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %e = dtc.cast %f : (tensor<8xf32>) -> tensor<8xi64>
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Weights that stay whole are warned of.
func.func @step(%x: tensor<8x4xf32>, %w: tensor<2x4x4xf32> {dtc.parameter = "w"}, %v: tensor<2x4x4xf32> {dtc.parameter = "v"}, %u: tensor<2x4x4xf32> {dtc.parameter = "u"}, %e: tensor<8xi64>) -> (tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4xf32>) {
  %t = dtc.tanh %v : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  // expected-warning @+1 {{reads weights of experts that --ep does not split, because they are computed, or something else reads them whole: each rank has those of all experts}}
  %z = dtc.grouped_matmul %y, %t, %e : (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  // expected-warning @+1 {{reads weights of experts that --ep does not split, because their product has a form that dtc does not know: each rank has those of all experts}}
  %m = dtc.gather %u, %e : (tensor<2x4x4xf32>, tensor<8xi64>) -> tensor<8x4x4xf32>
  return %z, %m, %y : tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4xf32>
}
