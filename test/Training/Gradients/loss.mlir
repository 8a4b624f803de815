// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: the gradient of an f64 scalar in the type of the model.

// CHECK-LABEL: module @cross_entropy
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[Z:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2xi64>
// CHECK: %[[L:.+]] = dtc.cross_entropy
// CHECK: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V2:.+]] = dtc.cross_entropy_grad %[[Z]], %[[T]], %[[V1]] {ignore_index = -100 : i64} :
// CHECK-NEXT: return %[[L]], %[[V2]]
module @cross_entropy {
  func.func @step(%z: tensor<2x4xf32> {dtc.parameter = "z"}, %t: tensor<2xi64> {dtc.input = "t"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %l = dtc.cross_entropy %z, %t {ignore_index = -100 : i64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @classes
// CHECK: dtc.cross_entropy_grad %{{.*}} {classes = 3 : i64} :
module @classes {
  func.func @step(%z: tensor<2x4xf32> {dtc.parameter = "z"}, %t: tensor<2xi64> {dtc.input = "t"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %l = dtc.cross_entropy %z, %t {classes = 3 : i64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @squared_error
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[L:.+]] = dtc.squared_error
// CHECK: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V2:.+]] = dtc.constant dense<2.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[V1]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.cast %[[V3]] :
// CHECK-NEXT: %[[V5:.+]] = dtc.sub %[[P]], %[[T]] :
// CHECK-NEXT: %[[V6:.+]] = dtc.mul %[[V5]], %[[V4]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.neg %[[V6]] :
// CHECK-NEXT: return %[[L]], %[[V6]], %[[V7]]
module @squared_error {
  func.func @step(%p: tensor<2x4xf32> {dtc.parameter = "p"}, %t: tensor<2x4xf32> {dtc.parameter = "t"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %l = dtc.squared_error %p, %t : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @sum_squares
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V2:.+]] = dtc.constant dense<2.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[V1]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.cast %[[V3]] :
// CHECK-NEXT: %[[V5:.+]] = dtc.mul %[[X]], %[[V4]] :
// CHECK-NEXT: return %[[L]], %[[V5]]
module @sum_squares {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %l = dtc.sum_squares %x : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
