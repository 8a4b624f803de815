// With one micro-batch nothing is refused: what needs a sum over the batch, or
// the batch whole, belongs to the micro-batch, and gradients leave it.
// RUN: dtc-opt %s --dtc-assign-mesh="dp=2" --dtc-propagate-layouts --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// CHECK-LABEL: func @step
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %t: tensor<8xi64> {dtc.input = "labels", dtc.kind = "label"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %w: tensor<4x4xf32> {dtc.parameter = "w"}, %b: tensor<1x4xf32> {dtc.parameter = "b"})
    -> (tensor<f64> {dtc.output = "loss"}, tensor<4x4xf32> {dtc.gradient = "w"}, tensor<4x4xf32> {dtc.parameter = "w"},
        tensor<1x4xf32> {dtc.gradient = "b"}) {
  // CHECK: dtc.matmul {{.*}} -> tensor<8x4xf32, #mb_dp>
  %y = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // A mean in the middle: reduced over dp within the micro-batch, not at the end.
  // CHECK: %[[S:.*]] = dtc.reduce_sum {{.*}} -> tensor<1x1xf32, #mb_each_partial_dp>
  // CHECK: %[[R:.*]] = dtc.all_reduce sum %[[S]] over ["dp"] {{.*}} -> tensor<1x1xf32, #mb_each>
  // CHECK: %[[E:.*]] = dtc.exp %[[R]] : {{.*}} -> tensor<1x1xf32, #mb_each>
  // CHECK: dtc.mul %{{.*}}, %[[E]] : {{.*}} -> tensor<8x4xf32, #mb_dp>
  %s = dtc.reduce_sum %y axes [0, 1] : (tensor<8x4xf32>) -> tensor<1x1xf32>
  %e = dtc.exp %s : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %z = dtc.mul %y, %e : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  // A count of labels is known before.
  // CHECK: %[[N:.*]] = dtc.count_labels
  // CHECK: dtc.sum_microbatches %[[N]]
  %l = dtc.cross_entropy %z, %t {ignore_index = -1 : i64} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<f64>
  %n = dtc.count_labels %t {ignore_index = -1 : i64} : (tensor<8xi64>) -> tensor<f64>
  %loss = dtc.div %l, %n : (tensor<f64>, tensor<f64>) -> tensor<f64>
  // The whole batch in one softmax: gathered over dp.
  // CHECK: dtc.all_gather {{.*}} over ["dp"]
  // CHECK: dtc.softmax {{.*}} -> tensor<4x8xf32, #mb1>
  %yt = dtc.transpose %y [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %p = dtc.softmax %yt : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // Gradients: one contracts over the batch as ever, one does not.
  // CHECK: dtc.matmul {{.*}} -> tensor<4x4xf32, #partial_dp_partial_mb>
  %dw = dtc.matmul %x, %z {transpose_lhs} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[FIRST:.*]] = dtc.slice {{.*}} -> tensor<1x4xf32, #mb_each>
  // CHECK: %[[DB:.*]] = dtc.as_partial %[[FIRST]] over ["mb"] : tensor<1x4xf32, #mb_each> -> tensor<1x4xf32, #partial_mb>
  // CHECK: dtc.sum_microbatches %[[DB]]
  %pt = dtc.transpose %p [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %db = dtc.slice %pt axis 0 from 0 : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %w1 = dtc.sgd %w, %dw, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f64>) -> tensor<4x4xf32>
  return %loss, %dw, %w1, %db : tensor<f64>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x4xf32>
}
