// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients of attention: one op, of what the forward pass keeps of each row.

// Causal, with two heads for each group of keys and values.
// CHECK-LABEL: module @causal
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x5x4x3xf32>
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<2x5x2x3xf32>
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2x5x2x6xf32>
// CHECK: %[[Y:.+]], %[[LSE:.+]] = dtc.attention
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = dtc.attention_grad %[[Q]], %[[K]], %[[V]], %[[Y]], %[[LSE]], %[[G]] {causal, scale = 5.000000e-01 : f64} :
// CHECK-NEXT: return %[[L]], %[[DQ]], %[[DK]], %[[DV]]
module @causal {
  func.func @step(%q: tensor<2x5x4x3xf32> {dtc.parameter = "q"}, %k: tensor<2x5x2x3xf32> {dtc.parameter = "k"}, %v: tensor<2x5x2x6xf32> {dtc.parameter = "v"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y, %lse = dtc.attention %q, %k, %v {causal, scale = 5.0e-1 : f64} : (tensor<2x5x4x3xf32>, tensor<2x5x2x3xf32>, tensor<2x5x2x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>)
    %l = dtc.sum_squares %y : (tensor<2x5x4x6xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// A mask, which has no gradient; other keys than queries.
// CHECK-LABEL: module @masked
// CHECK: %[[M:.+]] = dtc.constant
// CHECK: %[[Y:.+]], %[[LSE:.+]] = dtc.attention
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = dtc.attention_grad %{{.+}}, %{{.+}}, %{{.+}}, %[[M]], %[[Y]], %[[LSE]], %[[G]] {scale = 1.000000e+00 : f64} :
module @masked {
  func.func @step(%q: tensor<2x3x1x2xf32> {dtc.parameter = "q"}, %k: tensor<2x4x1x2xf32> {dtc.parameter = "k"}, %v: tensor<2x4x1x2xf32> {dtc.parameter = "v"}) -> (tensor<f64> {dtc.output = "loss"}) {
    // Minus infinity hides keys: one of all queries of the second sample, and
    // all of them of its last query.
    %m = dtc.constant dense<[[[[0.0, 1.0, -0.5, 0.0], [0.0, 0.0, 2.0, 0.0], [0.3, 0.0, 0.0, 0.0]]], [[[0.0, 0xFF800000, 0.0, 0.0], [0.5, 0xFF800000, 0.0, 0.0], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]]]]> : tensor<2x1x3x4xf32> to tensor<2x1x3x4xf32>
    %y, %lse = dtc.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<2x3x1x2xf32>, tensor<2x4x1x2xf32>, tensor<2x4x1x2xf32>, tensor<2x1x3x4xf32>) -> (tensor<2x3x1x2xf32>, tensor<2x1x3xf32>)
    %l = dtc.sum_squares %y : (tensor<2x3x1x2xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
