// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: a lookup and its transpose.

// CHECK-LABEL: module @gather
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<2xi64>
// CHECK: %[[Y:.+]] = dtc.gather
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.scatter_add %[[I]], %[[G]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @gather {
  func.func @step(%table: tensor<5x4xf32> {dtc.parameter = "table"}, %i: tensor<2xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.gather %table, %i : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @scatter_add
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<2xi64>
// CHECK: %[[Y:.+]] = dtc.scatter_add
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.gather %[[G]], %[[I]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @scatter_add {
  func.func @step(%i: tensor<2xi64> {dtc.input = "i"}, %u: tensor<2x4xf32> {dtc.parameter = "u"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.scatter_add %i, %u : (tensor<2xi64>, tensor<2x4xf32>) -> tensor<5x4xf32>
    %l = dtc.sum_squares %y : (tensor<5x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @gather_batch
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<2x3xi64>
// CHECK: %[[Y:.+]] = dtc.gather
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.scatter_add %[[I]], %[[G]] {batch_dims = 1 : i64} :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @gather_batch {
  func.func @step(%table: tensor<2x5x4xf32> {dtc.parameter = "table"}, %i: tensor<2x3xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.gather %table, %i {batch_dims = 1 : i64} : (tensor<2x5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x3x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @scatter_add_batch
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<2x3xi64>
// CHECK: %[[Y:.+]] = dtc.scatter_add
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.gather %[[G]], %[[I]] {batch_dims = 1 : i64} :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @scatter_add_batch {
  func.func @step(%i: tensor<2x3xi64> {dtc.input = "i"}, %u: tensor<2x3x4xf32> {dtc.parameter = "u"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.scatter_add %i, %u {batch_dims = 1 : i64} : (tensor<2x3xi64>, tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x5x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
