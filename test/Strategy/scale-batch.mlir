// RUN: dtc-opt %s --dtc-scale-batch="batch=6" --split-input-file --verify-diagnostics | FileCheck %s

// Time-major, with a class token that was exported for two samples, and position
// ids for each.
// CHECK-LABEL: func @forward(%arg0: tensor<6x5x4xf32> {dtc.input = "x"}
module {
func.func @forward(%x: tensor<2x5x4xf32> {dtc.input = "x"}, %t: tensor<1x1x4xf32> {dtc.parameter = "t"},
                   %p: tensor<6x4xf32> {dtc.parameter = "p"}, %w: tensor<4x3xf32> {dtc.parameter = "w"}) -> tensor<2x3xf32> {
  // CHECK-DAG: %[[T:.*]] = dtc.broadcast %arg1 : (tensor<1x1x4xf32>) -> tensor<6x1x4xf32>
  // CHECK-DAG: dtc.concat %[[T]], %arg0 axis 1 : {{.*}} -> tensor<6x6x4xf32>
  // CHECK-DAG: dtc.gather {{.*}} -> tensor<6x6x4xf32>
  // CHECK: dtc.transpose {{.*}} -> tensor<6x6x4xf32>
  // CHECK: dtc.reshape {{.*}} -> tensor<36x4xf32>
  // CHECK: dtc.matmul {{.*}} -> tensor<36x3xf32>
  // CHECK: dtc.reshape {{.*}} -> tensor<6x6x3xf32>
  // CHECK: dtc.reduce_sum {{.*}} -> tensor<1x6x3xf32>
  // CHECK: return %{{.*}} : tensor<6x3xf32>
  %token = dtc.broadcast %t : (tensor<1x1x4xf32>) -> tensor<2x1x4xf32>
  %all = dtc.concat %token, %x axis 1 : (tensor<2x1x4xf32>, tensor<2x5x4xf32>) -> tensor<2x6x4xf32>
  %ids = dtc.constant dense<[[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]> : tensor<2x6xi64> to tensor<2x6xi64>
  %rows = dtc.gather %p, %ids : (tensor<6x4xf32>, tensor<2x6xi64>) -> tensor<2x6x4xf32>
  %sum = dtc.add %all, %rows : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %s = dtc.transpose %sum [1, 0, 2] : (tensor<2x6x4xf32>) -> tensor<6x2x4xf32>
  %flat = dtc.reshape %s : (tensor<6x2x4xf32>) -> tensor<12x4xf32>
  %y = dtc.matmul %flat, %w : (tensor<12x4xf32>, tensor<4x3xf32>) -> tensor<12x3xf32>
  %z = dtc.reshape %y : (tensor<12x3xf32>) -> tensor<6x2x3xf32>
  %r = dtc.reduce_sum %z axes [0] : (tensor<6x2x3xf32>) -> tensor<1x2x3xf32>
  %o = dtc.reshape %r : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  return %o : tensor<2x3xf32>
}
}

// -----

func.func @forward(%x: tensor<2x4xf32> {dtc.input = "x"}) -> tensor<2x4xf32> {
  %t = dtc.transpose %x [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@below {{mixes the 2 samples of a batch, so the batch size cannot be 6; export a model with that size or a dynamic one, and use --dp with a number}}
  %s = dtc.softmax %t : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = dtc.transpose %s [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A mean over the batch divides by the size that it was exported with.
func.func @forward(%x: tensor<2x4xf32> {dtc.input = "x"}) -> tensor<f32> {
  %s = dtc.reduce_sum %x axes [0, 1] : (tensor<2x4xf32>) -> tensor<1x1xf32>
  %n = dtc.constant dense<0.125> : tensor<f32> to tensor<f32>
  %m = dtc.mul %s, %n : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  // expected-error@below {{mixes the 2 samples of a batch}}
  %y = dtc.reshape %m : (tensor<1x1xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// Batch norm is one of whatever samples there are.
// CHECK-LABEL: func @forward(%arg0: tensor<6x4xf32>
// CHECK: dtc.batch_norm %arg0, {{.*}} -> tensor<6x4xf32>
func.func @forward(%x: tensor<2x4xf32> {dtc.input = "x"}, %s: tensor<4xf32> {dtc.parameter = "s"}, %b: tensor<4xf32> {dtc.parameter = "b"},
                   %m: tensor<4xf32> {dtc.parameter = "m"}, %v: tensor<4xf32> {dtc.parameter = "v"}) -> tensor<2x4xf32> {
  %y = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 9.0e-1 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A model with the requested batch does not change.
// CHECK-LABEL: func @forward(%arg0: tensor<6x4xf32>
func.func @forward(%x: tensor<6x4xf32> {dtc.input = "x"}) -> tensor<6x4xf32> {
  %t = dtc.softmax %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %t : tensor<6x4xf32>
}
