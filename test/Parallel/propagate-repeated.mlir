// RUN: dtc-opt %s --dtc-assign-mesh="dp=2" --dtc-propagate-layouts --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// A value that is the same for all samples, here position ids that an exporter
// wrote for each of eight, is made for the samples of a rank, with one
// micro-batch too: no rank makes it for all and cuts it.

// CHECK: func.func @step(%[[X:[^:]+]]: tensor<8x3x4xf32, #mb_dp>
// CHECK-SAME: %[[P:[^:]+]]: tensor<5x4xf32, #replicated>
// CHECK: %[[ROW:.+]] = dtc.constant dense<[0, 1, 2]> : tensor<3xi64>
// CHECK: %[[IDS:.+]] = dtc.broadcast %[[ROW]] : (tensor<3xi64, #replicated>) -> tensor<8x3xi64, #dp>
// CHECK: %[[LATER:.+]] = dtc.add %[[IDS]], %{{.+}} -> tensor<8x3xi64, #dp>
// CHECK: %[[ROWS:.+]] = dtc.gather %[[P]], %[[LATER]] : {{.+}} -> tensor<8x3x4xf32, #dp>
// CHECK: dtc.add %[[X]], %[[ROWS]] : {{.+}} -> tensor<8x3x4xf32, #mb_dp>
// CHECK-NOT: dtc.local_slice
// CHECK: return
func.func @step(%x: tensor<8x3x4xf32> {dtc.input = "x", dtc.kind = "input"}, %p: tensor<5x4xf32> {dtc.parameter = "p"})
    -> (tensor<f64> {dtc.output = "loss"}) {
  %ids = dtc.constant dense<[[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]> : tensor<8x3xi64> to tensor<8x3xi64>
  %two = dtc.constant dense<2> : tensor<i64> to tensor<i64>
  %later = dtc.add %ids, %two : (tensor<8x3xi64>, tensor<i64>) -> tensor<8x3xi64>
  %rows = dtc.gather %p, %later : (tensor<5x4xf32>, tensor<8x3xi64>) -> tensor<8x3x4xf32>
  %y = dtc.add %x, %rows : (tensor<8x3x4xf32>, tensor<8x3x4xf32>) -> tensor<8x3x4xf32>
  %loss = dtc.sum_squares %y : (tensor<8x3x4xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
