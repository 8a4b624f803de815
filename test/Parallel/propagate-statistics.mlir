// RUN: dtc-opt %s --split-input-file --dtc-assign-mesh="dp=2 microbatches=4" --dtc-propagate-layouts --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// The other operand of a product with a sum over the batch is split along the
// batch: the sum is complete, although products are linear, and the samples
// stay where they are.

// CHECK-LABEL: func @step
// CHECK: %[[PART:.+]] = dtc.reduce_sum
// CHECK: %[[LOCAL:.+]] = dtc.sum_microbatches %[[PART]]
// CHECK: %[[SUM:.+]] = dtc.all_reduce sum %[[LOCAL]] over ["dp"]
// CHECK: dtc.mul %{{.+}}, %[[SUM]] : {{.+}} -> tensor<16x4xf32, #mb_dp>
// CHECK-NOT: dtc.all_gather
func.func @step(%x: tensor<16x4xf32> {dtc.input = "x", dtc.kind = "input"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<16x4xf32>) -> tensor<1x4xf32>
  %1 = dtc.mul %x, %0 : (tensor<16x4xf32>, tensor<1x4xf32>) -> tensor<16x4xf32>
  %loss = dtc.sum_squares %1 : (tensor<16x4xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// Ranks complete a sum before it is repeated for each sample, not after.

// CHECK-LABEL: func @step
// CHECK: %[[TERM:.+]] = dtc.reduce_sum %arg0 axes [0, 1] {{.+}} -> tensor<1x1xf32, #{{.*}}partial_dp{{.*}}>
// CHECK: %[[SUM:.+]] = dtc.all_reduce sum %{{.+}} over ["dp"] {{.+}} -> tensor<1x1xf32,
// CHECK-NEXT: dtc.broadcast %[[SUM]] {{.+}} -> tensor<16x4xf32, #mb_dp>
// CHECK-NOT: dtc.reduce_scatter
func.func @step(%x: tensor<16x4xf32> {dtc.input = "x", dtc.kind = "input"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.reduce_sum %x axes [0, 1] : (tensor<16x4xf32>) -> tensor<1x1xf32>
  %1 = dtc.broadcast %0 : (tensor<1x1xf32>) -> tensor<16x4xf32>
  %2 = dtc.exp %x : (tensor<16x4xf32>) -> tensor<16x4xf32>
  %3 = dtc.mul %1, %2 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %loss = dtc.sum_squares %3 : (tensor<16x4xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
