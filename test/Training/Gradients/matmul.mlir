// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: flags transpose, so that no data moves.

// CHECK-LABEL: module @plain
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK: %[[Y:.+]] = dtc.matmul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.matmul %[[G]], %[[B]] {transpose_rhs} :
// CHECK-NEXT: %[[V2:.+]] = dtc.matmul %[[A]], %[[G]] {transpose_lhs} :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V2]]
module @plain {
  func.func @step(%a: tensor<2x3xf32> {dtc.parameter = "a"}, %b: tensor<3x4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @rhs
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4x3xf32>
// CHECK: %[[Y:.+]] = dtc.matmul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.matmul %[[G]], %[[B]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.matmul %[[G]], %[[A]] {transpose_lhs} :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V2]]
module @rhs {
  func.func @step(%a: tensor<2x3xf32> {dtc.parameter = "a"}, %b: tensor<4x3xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.matmul %a, %b {transpose_rhs} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @lhs
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<3x2xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK: %[[Y:.+]] = dtc.matmul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.matmul %[[B]], %[[G]] {transpose_rhs} :
// CHECK-NEXT: %[[V2:.+]] = dtc.matmul %[[A]], %[[G]] :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V2]]
module @lhs {
  func.func @step(%a: tensor<3x2xf32> {dtc.parameter = "a"}, %b: tensor<3x4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.matmul %a, %b {transpose_lhs} : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @both
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<3x2xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4x3xf32>
// CHECK: %[[Y:.+]] = dtc.matmul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.matmul %[[B]], %[[G]] {transpose_lhs, transpose_rhs} :
// CHECK-NEXT: %[[V2:.+]] = dtc.matmul %[[G]], %[[A]] {transpose_lhs, transpose_rhs} :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V2]]
module @both {
  func.func @step(%a: tensor<3x2xf32> {dtc.parameter = "a"}, %b: tensor<4x3xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.matmul %a, %b {transpose_lhs, transpose_rhs} : (tensor<3x2xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @batch
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<5x2x3xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<5x3x4xf32>
// CHECK: %[[Y:.+]] = dtc.matmul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.matmul %[[G]], %[[B]] {transpose_rhs} :
// CHECK-NEXT: %[[V2:.+]] = dtc.matmul %[[A]], %[[G]] {transpose_lhs} :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V2]]
module @batch {
  func.func @step(%a: tensor<5x2x3xf32> {dtc.parameter = "a"}, %b: tensor<5x3x4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.matmul %a, %b : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
    %l = dtc.sum_squares %y : (tensor<5x2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
