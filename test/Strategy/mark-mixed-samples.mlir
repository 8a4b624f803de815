// RUN: dtc-opt %s --dtc-mark-mixed-samples --split-input-file | FileCheck %s

// Predictions of single samples.

// CHECK-LABEL: module @single
// CHECK:         func.func @step
// CHECK-NOT:     dtc.mixes_samples
module @single {
  func.func @step(%x: tensor<8x4xf32> {dtc.input = "x"}, %w: tensor<4x3xf32> {dtc.parameter = "w"})
      -> (tensor<8x3xf32> {dtc.output = "predictions"}) {
    %y = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    return %y : tensor<8x3xf32>
  }
}

// -----

// A mean over the batch is the same however often each sample is there.

// CHECK-LABEL: module @mean
// CHECK:         func.func @step
// CHECK-NOT:     dtc.mixes_samples
module @mean {
  func.func @step(%x: tensor<8x4xf32> {dtc.input = "x"}) -> (tensor<8x4xf32> {dtc.output = "predictions"}) {
    %n = dtc.constant dense<8.0> : tensor<f32> to tensor<f32>
    %s = dtc.reduce_sum %x axes [0] : (tensor<8x4xf32>) -> tensor<1x4xf32>
    %m = dtc.div %s, %n : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %y = dtc.sub %x, %m : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

// Each sample with each other one. Only results of evaluations count.

// CHECK-LABEL: module @pairs
// CHECK:         func.func @step
// CHECK-SAME:    tensor<8x8xf32> {dtc.output = "loss"}, tensor<8x8xf32> {dtc.mixes_samples, dtc.output = "predictions"}
module @pairs {
  func.func @step(%x: tensor<8x4xf32> {dtc.input = "x"})
      -> (tensor<8x8xf32> {dtc.output = "loss"}, tensor<8x8xf32> {dtc.output = "predictions"}) {
    %t = dtc.transpose %x [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %y = dtc.matmul %x, %t : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    return %y, %y : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// CHECK-LABEL: module @training_alone
// CHECK:         func.func @step
// CHECK-NOT:     dtc.mixes_samples
module @training_alone {
  func.func @step(%x: tensor<8x4xf32> {dtc.input = "x"})
      -> (tensor<8x8xf32> {dtc.output = "loss"}, tensor<8x4xf32> {dtc.output = "predictions"}) {
    %t = dtc.transpose %x [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %y = dtc.matmul %x, %t : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    return %y, %x : tensor<8x8xf32>, tensor<8x4xf32>
  }
}
