// Rows of an input are of the micro-batch, though they are not along the batch.
// RUN: dtc-opt %s --dtc-assign-mesh="dp=1" --dtc-propagate-layouts --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// CHECK-LABEL: func @step
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<2x4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
  // CHECK: dtc.gather {{.*}} : (tensor<8x4xf32, #mb>, {{.*}}) -> tensor<2x4xf32, #mb_each>
  // CHECK: dtc.mul {{.*}} -> tensor<2x4xf32, #mb_each>
  %i = dtc.constant dense<[5, 2]> : tensor<2xi64> to tensor<2xi64>
  %rows = dtc.gather %x, %i : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %y = dtc.mul %rows, %w : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
  return %s : tensor<f64>
}
