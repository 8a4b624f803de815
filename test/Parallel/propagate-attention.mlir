// RUN: dtc-opt %s --dtc-assign-mesh="tp=2" --dtc-propagate-layouts --cse | FileCheck %s

// Causal queries that are split have a mask of their own rows instead, and so
// has their gradient; keys and values are whole, and their gradients sums.
// CHECK-LABEL: func @step
// CHECK: %[[STARTS:.*]] = dtc.constant dense<[0, 4]>
// CHECK: %[[OWN:.*]] = dtc.reshard %[[STARTS]] : {{.*}} -> tensor<2xi64, #tp>
// CHECK: %[[ROWS:.*]] = dtc.add {{.*}} -> tensor<2x4xi64, #tp>
// CHECK: %[[ROW:.*]] = dtc.reshape %[[ROWS]] : {{.*}} -> tensor<1x1x8x1xi64, #tp2>
// CHECK: %[[SEEN:.*]] = dtc.compare {{ *}}ge %[[ROW]], %{{.*}} -> tensor<1x1x8x8xi1, #tp2>
// CHECK: %[[MASK:.*]] = dtc.select %[[SEEN]], {{.*}} -> tensor<1x1x8x8xf32, #tp2>
// CHECK: %[[Y:.*]], %[[LSE:.*]] = dtc.attention %arg1, %arg2, %arg2, %[[MASK]] {scale = 1.000000e+00 : f64} : {{.*}} -> (tensor<2x8x4x6xf32, #tp1>, tensor<2x4x8xf32, #tp2>)
// CHECK: dtc.attention_grad %arg1, %arg2, %arg2, %[[MASK]], %[[Y]], %[[LSE]], %[[Y]] {scale = 1.000000e+00 : f64} : {{.*}} -> (tensor<2x8x4x6xf32, #tp1>, tensor<2x8x4x6xf32, #partial_tp>, tensor<2x8x4x6xf32, #partial_tp>)
func.func @step(%x: tensor<2xf32> {dtc.input = "x", dtc.kind = "input"}, %q: tensor<2x8x4x6xf32> {dtc.parameter = "q", dtc.split_dims = {tp = 1}}, %k: tensor<2x8x4x6xf32> {dtc.parameter = "k"})
    -> (tensor<2x8x4x6xf32> {dtc.gradient = "q"}, tensor<2x8x4x6xf32> {dtc.gradient = "k"}) {
  %0:2 = dtc.attention %q, %k, %k {causal, scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x4x8xf32>)
  %1:3 = dtc.attention_grad %q, %k, %k, %0#0, %0#1, %0#0 {causal, scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x4x8xf32>, tensor<2x8x4x6xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>)
  %2 = dtc.add %1#1, %1#2 : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32>
  return %1#0, %2 : tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>
}
