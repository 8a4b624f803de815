// RUN: dtc-opt %s --dtc-assign-mesh="dp=2 microbatches=4" --dtc-propagate-layouts --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// What a sum over the batch is multiplied with is split along the batch: the
// sum is complete, though products are linear, and the samples stay where they
// are.

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
