// RUN: dtc-opt %s --dtc-assign-mesh="dp=2 tp=2 microbatches=2" --dtc-propagate-layouts --cse --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// Positions, of which tensor parallelism splits the table, and the sequence of
// what is found: found for the samples of a micro-batch, then scattered.

// CHECK-LABEL: func.func @step
// CHECK: %[[IDS:.+]] = dtc.broadcast %{{.+}} -> tensor<8x6xi64, #mb_dp>
// CHECK: %[[PART:.+]] = dtc.gather %{{.+}}, %[[IDS]], %{{.+}} -> tensor<8x6x16xf32, #mb_dp_partial_tp>
// CHECK: dtc.reduce_scatter sum %[[PART]] over ["tp"] dim 1 {{.+}} -> tensor<8x6x16xf32, #mb_dp_tp1>
func.func @step(%x: tensor<8x6x16xf32> {dtc.input = "x", dtc.kind = "input"}, %w: tensor<18x16xf32> {dtc.parameter = "w", dtc.split_dims = {tp = 0 : i64}}) -> (tensor<f64> {dtc.output = "loss"}) {
  %c = dtc.constant dense<[[2, 3, 4, 5, 6, 7]]> : tensor<1x6xi64> to tensor<1x6xi64>
  %ids = dtc.broadcast %c : (tensor<1x6xi64>) -> tensor<8x6xi64>
  %rows = dtc.gather %w, %ids : (tensor<18x16xf32>, tensor<8x6xi64>) -> tensor<8x6x16xf32>
  %y = dtc.exp %x {dtc.split_dims = {tp = 1 : i64}} : (tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
  %sum = dtc.add %y, %rows : (tensor<8x6x16xf32>, tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
  %loss = dtc.sum_squares %sum : (tensor<8x6x16xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
