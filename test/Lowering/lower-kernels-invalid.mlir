// RUN: dtc-opt %s --dtc-lower-kernels --split-input-file --verify-diagnostics

func.func @not_lowered(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.kernel} {
  // expected-error @below {{is not lowered, expected linalg ops on tensors}}
  %0 = dtc.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @product(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> attributes {dtc.kernel} {
  // expected-error @below {{is not a sum or a maximum}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
