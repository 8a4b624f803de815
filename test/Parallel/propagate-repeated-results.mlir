// RUN: dtc-opt %s --dtc-assign-mesh="microbatches=2" --dtc-propagate-layouts --cse --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// A recurrent cell's first state is zero for all samples. An op takes its
// result apart, and each part is made for the samples of a micro-batch.

// CHECK: func.func @step(%[[X:[^:]+]]: tensor<8x4xf32, #mb>
// CHECK: %[[PARTS:.+]]:2 = dtc.split %[[X]]
// CHECK: %[[STATE:.+]] = dtc.broadcast {{.*}} -> tensor<8x2xf32, #mb>
// CHECK: %[[PRODUCT:.+]] = dtc.matmul %[[STATE]], {{.*}} -> tensor<8x4xf32, #mb>
// CHECK: %[[OWN:.+]]:2 = dtc.split %[[PRODUCT]] axis 1
// CHECK: %[[SUM:.+]] = dtc.add %[[OWN]]#0, %[[PARTS]]#0
// CHECK: dtc.mul %[[OWN]]#1, %[[SUM]]
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"}, %w: tensor<2x4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %z = dtc.constant dense<0.0> : tensor<1x1xf32> to tensor<1x1xf32>
  %h = dtc.broadcast %z : (tensor<1x1xf32>) -> tensor<8x2xf32>
  %g = dtc.matmul %h, %w : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %a:2 = dtc.split %g axis 1 : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)
  %b:2 = dtc.split %x axis 1 : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)
  %c = dtc.add %a#0, %b#0 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %d = dtc.mul %a#1, %c : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %loss = dtc.sum_squares %d : (tensor<8x2xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
