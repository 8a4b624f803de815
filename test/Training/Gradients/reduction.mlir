// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: gradients broadcast back; equal maxima share.

// CHECK-LABEL: module @reduce_sum
// CHECK: %[[Y:.+]] = dtc.reduce_sum
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.broadcast %[[G]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @reduce_sum {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.reduce_sum %x axes [1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %l = dtc.sum_squares %y : (tensor<2x1xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @reduce_max
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.reduce_max
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.compare eq %[[X]], %[[Y]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = dtc.select %[[V2]], %[[V1]], %[[V3]] :
// CHECK-NEXT: %[[V5:.+]] = dtc.reduce_sum %[[V4]] axes [0] :
// CHECK-NEXT: %[[V6:.+]] = dtc.div %[[G]], %[[V5]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.mul %[[V4]], %[[V6]] :
// CHECK-NEXT: return %[[L]], %[[V7]]
module @reduce_max {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.reduce_max %x axes [0] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %l = dtc.sum_squares %y : (tensor<1x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// A factor that is the same along the axes multiplies the sum: the gradients of
// a subtracted mean, and of a bias, use one sum of %[[G]].
// CHECK-LABEL: module @sum_of_scaled
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<4xf32> {dtc.frozen
// CHECK: %[[G:.+]] = dtc.mul %{{.+}}, %{{.+}} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
// CHECK: %[[SUM:.+]] = dtc.reduce_sum %[[G]] axes [0] : (tensor<2x4xf32>) -> tensor<1x4xf32>
// CHECK: %[[SCALED:.+]] = dtc.mul %[[SUM]], %[[S]] : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
// CHECK: dtc.neg %[[SCALED]]
// CHECK-NOT: dtc.reduce_sum
module @sum_of_scaled {
  func.func @step(%s: tensor<4xf32> {dtc.parameter = "s", dtc.frozen}, %x: tensor<2x4xf32> {dtc.input = "x"}, %m: tensor<1x4xf32> {dtc.parameter = "m"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %c = dtc.sub %x, %m : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    %y = dtc.mul %c, %s : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// In 16 bits, the factor takes the type of the sum, which is not rounded.
// CHECK-LABEL: module @sum_of_scaled_bf16
// CHECK: %[[SUM:.+]] = dtc.reduce_sum %{{.+}} axes [0] : (tensor<2x4xbf16>) -> tensor<1x4xf32>
// CHECK: %[[S:.+]] = dtc.cast %{{.+}} : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK: dtc.mul %[[SUM]], %[[S]] : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NOT: bf16
// CHECK: return
module @sum_of_scaled_bf16 {
  func.func @step(%s: tensor<4xf32> {dtc.parameter = "s", dtc.frozen}, %x: tensor<2x4xbf16> {dtc.input = "x"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %0 = dtc.cast %b : (tensor<4xf32>) -> tensor<4xbf16>
    %1 = dtc.cast %s : (tensor<4xf32>) -> tensor<4xbf16>
    %c = dtc.add %x, %0 : (tensor<2x4xbf16>, tensor<4xbf16>) -> tensor<2x4xbf16>
    %y = dtc.mul %c, %1 : (tensor<2x4xbf16>, tensor<4xbf16>) -> tensor<2x4xbf16>
    %l = dtc.sum_squares %y : (tensor<2x4xbf16>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
