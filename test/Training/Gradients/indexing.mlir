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

// -----

// The rows of a narrow table get the sum of the batch, which is f32, before it is
// rounded.

// CHECK-LABEL: module @gather_narrow
// CHECK: %[[SUM:.+]] = dtc.reduce_sum %{{.+}} axes [0] : (tensor<2x3x4xbf16>) -> tensor<1x3x4xf32>
// CHECK-NEXT: dtc.scatter_add %{{.+}}, %[[SUM]] : (tensor<1x3xi64>, tensor<1x3x4xf32>) -> tensor<5x4xf32>
module @gather_narrow {
  func.func @step(%table: tensor<5x4xf32> {dtc.parameter = "table"}, %x: tensor<2x3x4xbf16> {dtc.input = "x"}, %i: tensor<1x3xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %t = dtc.cast %table : (tensor<5x4xf32>) -> tensor<5x4xbf16>
    %y = dtc.gather %t, %i : (tensor<5x4xbf16>, tensor<1x3xi64>) -> tensor<1x3x4xbf16>
    %z = dtc.mul %x, %y : (tensor<2x3x4xbf16>, tensor<1x3x4xbf16>) -> tensor<2x3x4xbf16>
    %l = dtc.sum_squares %z : (tensor<2x3x4xbf16>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
