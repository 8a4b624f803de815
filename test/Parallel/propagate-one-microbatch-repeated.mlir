// RUN: dtc-opt %s --dtc-assign-mesh="dp=2" --dtc-propagate-layouts --cse --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// Ops on repeated values of the only micro-batch compute the samples of a rank:
// no rank computes all of them and cuts.

// CHECK-LABEL: func @step
// CHECK: %[[SUM:.+]] = dtc.exp %{{.+}} -> tensor<1x4xf32, #mb_each>
// CHECK: %[[MANY:.+]] = dtc.broadcast %[[SUM]] : {{.+}} -> tensor<16x4xf32, #mb_each_dp>
// CHECK: dtc.add %[[MANY]], %[[MANY]] : {{.+}} -> tensor<16x4xf32, #mb_each_dp>
// CHECK-NOT: dtc.local_slice
// CHECK: return
func.func @step(%x: tensor<16x4xf32> {dtc.input = "x", dtc.kind = "input"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.mul %x, %w : (tensor<16x4xf32>, tensor<4xf32>) -> tensor<16x4xf32>
  %1 = dtc.reduce_sum %0 axes [0] : (tensor<16x4xf32>) -> tensor<1x4xf32>
  %2 = dtc.exp %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %3 = dtc.broadcast %2 : (tensor<1x4xf32>) -> tensor<16x4xf32>
  %4 = dtc.add %3, %3 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %5 = dtc.mul %4, %0 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %loss = dtc.sum_squares %5 : (tensor<16x4xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
