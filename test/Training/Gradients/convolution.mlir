// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients of windows over images.

// By images and by filters: strides, padding of each side, dilations, groups;
// a row at the end that no window covers.
// CHECK-LABEL: module @conv2d
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x7x4xf32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<6x3x2x2xf32>
// CHECK: %[[Y:.+]] = dtc.conv2d
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.conv2d_input_grad %[[G]], %[[W]] strides [2, 1] padding [1, 0, 0, 1] dilations [1, 2] :
// CHECK-NEXT: %[[V2:.+]] = dtc.conv2d_filter_grad %[[X]], %[[G]] strides [2, 1] padding [1, 0, 0, 1] dilations [1, 2] :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V2]]
module @conv2d {
  func.func @step(%x: tensor<2x6x7x4xf32> {dtc.parameter = "x"}, %w: tensor<6x3x2x2xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.conv2d %x, %w strides [2, 1] padding [1, 0, 0, 1] dilations [1, 2] : (tensor<2x6x7x4xf32>, tensor<6x3x2x2xf32>) -> tensor<2x3x6x6xf32>
    %l = dtc.sum_squares %y : (tensor<2x3x6x6xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// A transposed convolution: its gradient by what it takes is a convolution.
// CHECK-LABEL: module @conv2d_input_grad
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4x4xf32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x3x3x3xf32>
// CHECK: %[[Y:.+]] = dtc.conv2d_input_grad
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.conv2d %[[G]], %[[W]] strides [2, 1] padding [1, 1, 0, 1] dilations [1, 1] :
// CHECK-NEXT: %[[V2:.+]] = dtc.conv2d_filter_grad %[[G]], %[[X]] strides [2, 1] padding [1, 1, 0, 1] dilations [1, 1] :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V2]]
module @conv2d_input_grad {
  func.func @step(%x: tensor<2x3x4x4xf32> {dtc.parameter = "x"}, %w: tensor<4x3x3x3xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.conv2d_input_grad %x, %w strides [2, 1] padding [1, 1, 0, 1] dilations [1, 1] : (tensor<2x3x4x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x4x6xf32>
    %l = dtc.sum_squares %y : (tensor<2x6x4x6xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// Windows overlap; the largest are found again in the images.
// CHECK-LABEL: module @max_pool2d
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x5x6x3xf32>
// CHECK: %[[Y:.+]] = dtc.max_pool2d
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.max_pool2d_grad %[[X]], %[[G]] kernel [3, 2] strides [2, 1] padding [1, 0, 1, 1] dilations [1, 2] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @max_pool2d {
  func.func @step(%x: tensor<2x5x6x3xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.max_pool2d %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 1] dilations [1, 2] : (tensor<2x5x6x3xf32>) -> tensor<2x3x5x3xf32>
    %l = dtc.sum_squares %y : (tensor<2x3x5x3xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// Linear: the images are not needed.
// CHECK-LABEL: module @sum_pool2d
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x5x6x3xf32>
// CHECK: %[[Y:.+]] = dtc.sum_pool2d
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.sum_pool2d_grad %[[G]] kernel [3, 2] strides [2, 1] padding [1, 0, 1, 1] dilations [1, 2] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @sum_pool2d {
  func.func @step(%x: tensor<2x5x6x3xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.sum_pool2d %x kernel [3, 2] strides [2, 1] padding [1, 0, 1, 1] dilations [1, 2] : (tensor<2x5x6x3xf32>) -> tensor<2x3x5x3xf32>
    %l = dtc.sum_squares %y : (tensor<2x3x5x3xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
