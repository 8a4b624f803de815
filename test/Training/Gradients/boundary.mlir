// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: gradients cross the other way; all stages get that of their sum.

// CHECK-LABEL: module @boundary
// CHECK: %[[Y:.+]] = dtc.boundary
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.boundary %[[G]] from 1 to 0
// CHECK-NEXT: return %[[L]], %[[V1]]
module @boundary {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.boundary %x from 0 to 1 : tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @sum_over_stages
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[B:.+]] = dtc.boundary
// CHECK: %[[L:.+]] = dtc.sum_over_stages
// CHECK: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V2:.+]] = dtc.constant dense<2.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[V1]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.cast %[[V3]] :
// CHECK-NEXT: %[[V5:.+]] = dtc.mul %[[B]], %[[V4]] :
// CHECK-NEXT: %[[V6:.+]] = dtc.constant dense<2.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V7:.+]] = dtc.mul %[[V1]], %[[V6]] :
// CHECK-NEXT: %[[V8:.+]] = dtc.cast %[[V7]] :
// CHECK-NEXT: %[[V9:.+]] = dtc.mul %[[X]], %[[V8]] :
// CHECK-NEXT: %[[V10:.+]] = dtc.boundary %[[V5]] from 1 to 0
// CHECK-NEXT: %[[V11:.+]] = dtc.add %[[V9]], %[[V10]] :
// CHECK-NEXT: return %[[L]], %[[V11]]
module @sum_over_stages {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %b = dtc.boundary %x from 0 to 1 : tensor<2x4xf32>
    %p = dtc.sum_squares %x : (tensor<2x4xf32>) -> tensor<f64>
    %q = dtc.sum_squares %b : (tensor<2x4xf32>) -> tensor<f64>
    %l = dtc.sum_over_stages %p, %q : (tensor<f64>, tensor<f64>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
