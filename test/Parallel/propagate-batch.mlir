// The batch second, inside merged dimensions, and in what has rows for it but
// does not depend on it.
// RUN: dtc-opt %s --split-input-file --dtc-assign-mesh="dp=2 microbatches=2" --dtc-propagate-layouts --cse --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// CHECK-NOT: dtc.all_gather
// CHECK-NOT: dtc.local_slice
// CHECK-LABEL: func @step
func.func @step(%x: tensor<8x5x16xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %c: tensor<1x1x16xf32> {dtc.parameter = "c"}, %p: tensor<6x16xf32> {dtc.parameter = "p"},
                %w: tensor<16x16xf32> {dtc.parameter = "w"}) -> (tensor<f64>, tensor<16x16xf32>) {
  // One row is repeated for the samples of a micro-batch.
  // CHECK: dtc.broadcast %{{.*}} -> tensor<8x1x16xf32, #mb_dp>
  %token = dtc.broadcast %c : (tensor<1x1x16xf32>) -> tensor<8x1x16xf32>
  %all = dtc.concat %token, %x axis 1 : (tensor<8x1x16xf32>, tensor<8x5x16xf32>) -> tensor<8x6x16xf32>
  // Position ids of an exporter that folded them: equal rows.
  // CHECK: %[[ROW:.*]] = dtc.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
  // CHECK: %[[MANY:.*]] = dtc.broadcast %[[ROW]] : {{.*}} -> tensor<8x6xi64, #mb_dp>
  // CHECK: dtc.gather %{{.*}}, %[[MANY]] : {{.*}} -> tensor<8x6x16xf32, #mb_dp>
  %ids = dtc.constant dense<[[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5],
                             [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]> : tensor<8x6xi64> to tensor<8x6xi64>
  %rows = dtc.gather %p, %ids : (tensor<6x16xf32>, tensor<8x6xi64>) -> tensor<8x6x16xf32>
  %sum = dtc.add %all, %rows : (tensor<8x6x16xf32>, tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
  // CHECK: dtc.transpose {{.*}} -> tensor<6x8x16xf32, #mb1_dp1>
  // CHECK: dtc.reshape {{.*}} -> tensor<48x16xf32, #[[IN:mb0in6_dp]]>
  // CHECK: dtc.matmul {{.*}} -> tensor<48x16xf32, #[[IN]]>
  // CHECK: dtc.reshape {{.*}} -> tensor<6x32x4xf32, #mb1_dp1>
  %t = dtc.transpose %sum [1, 0, 2] : (tensor<8x6x16xf32>) -> tensor<6x8x16xf32>
  %flat = dtc.reshape %t : (tensor<6x8x16xf32>) -> tensor<48x16xf32>
  %q = dtc.matmul %flat, %w : (tensor<48x16xf32>, tensor<16x16xf32>) -> tensor<48x16xf32>
  %heads = dtc.reshape %q : (tensor<48x16xf32>) -> tensor<6x32x4xf32>
  // A gradient contracts over the pieces.
  // CHECK: dtc.matmul {{.*}} {transpose_lhs} {{.*}} -> tensor<16x16xf32, #partial_dp_partial_mb>
  %dw = dtc.matmul %flat, %q {transpose_lhs} : (tensor<48x16xf32>, tensor<48x16xf32>) -> tensor<16x16xf32>
  %loss = dtc.sum_squares %heads : (tensor<6x32x4xf32>) -> tensor<f64>
  return %loss, %dw : tensor<f64>, tensor<16x16xf32>
}

// -----

// Biases of two heads for each sample: what repeats is two rows.
// CHECK-LABEL: module @heads
// CHECK: %[[TWO:.*]] = dtc.constant dense<{{\[\[}}1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
// CHECK: %[[EACH:.*]] = dtc.broadcast %[[TWO]] : {{.*}} -> tensor<4x2x1xf32, #mb_dp>
// CHECK: %[[BIAS:.*]] = dtc.reshape %[[EACH]] : {{.*}} -> tensor<8x1xf32, #mb_dp>
// CHECK: dtc.add %{{.*}}, %[[BIAS]]
module @heads {
func.func @step(%x: tensor<4x2x3xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"}) -> tensor<f64> {
  %flat = dtc.reshape %x : (tensor<4x2x3xf32>) -> tensor<8x3xf32>
  %bias = dtc.constant dense<[[1.0], [2.0], [1.0], [2.0], [1.0], [2.0], [1.0], [2.0]]> : tensor<8x1xf32> to tensor<8x1xf32>
  %y = dtc.add %flat, %bias : (tensor<8x3xf32>, tensor<8x1xf32>) -> tensor<8x3xf32>
  %loss = dtc.sum_squares %y : (tensor<8x3xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
}

// -----

// The batch second: each row of the first dimension repeats its own.
// CHECK-LABEL: module @second
// CHECK: %[[ROWS:.*]] = dtc.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: %[[EACH:.*]] = dtc.broadcast %[[ROWS]] : {{.*}} -> tensor<4x2xf32, #mb_dp>
// CHECK: dtc.transpose %[[EACH]] [1, 0] : {{.*}} -> tensor<2x4xf32, #mb1_dp1>
module @second {
func.func @step(%x: tensor<4x2xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"}) -> tensor<f64> {
  %t = dtc.transpose %x [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %bias = dtc.constant dense<[[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]]> : tensor<2x4xf32> to tensor<2x4xf32>
  %y = dtc.add %t, %bias : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
}
