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

// -----

// CSE may merge insertions, and then they share a buffer.
func.func @insertion(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {dtc.kernel} {
  // expected-error @below {{is not lowered, expected linalg ops on tensors}}
  %0 = tensor.insert_slice %x into %y[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @reads_elsewhere(%x: tensor<4x4xf32>, %a: tensor<4x4xf32> {dtc.update = 0 : i64}) -> tensor<4x4xf32> attributes {dtc.kernel} {
  // expected-error @below {{reads argument 1 of a kernel where a result has overwritten it, expected a read at the elements that are written}}
  %0 = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// The transpose walks through the argument in a second nest.
#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @reads_later(%x: tensor<4x8xf32>, %a: tensor<4x8xf32> {dtc.update = 0 : i64}, %e: tensor<8x4xf32>)
    -> (tensor<4x8xf32>, tensor<8x4xf32>) attributes {dtc.kernel} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-error @below {{reads argument 1 of a kernel where a result has overwritten it}}
  %1 = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<8x4xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<8x4xf32>
}

// -----

// expected-error @below {{has result 0, which overwrites two arguments, expected one}}
func.func @overwrites_two(%a: tensor<4xf32> {dtc.update = 0 : i64}, %b: tensor<4xf32> {dtc.update = 0 : i64}) -> tensor<4xf32> attributes {dtc.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
