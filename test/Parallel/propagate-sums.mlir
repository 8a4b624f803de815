// RUN: dtc-opt %s --dtc-assign-mesh="tp=2 microbatches=2" --dtc-propagate-layouts --split-input-file | FileCheck %s

// A value that is partial on tp is weighted and summed up to a half, and its
// product with another value to a sixth: these sums are reduced, not the value.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.+]] = dtc.matmul %{{.+}}, %arg1 {{.+}} -> tensor<8x6xf32, #mb_partial_tp>
// CHECK-NOT: dtc.reshard %[[Y]]
// CHECK: %[[W:.+]] = dtc.mul %[[Y]], %arg2 {{.+}} -> tensor<8x6xf32, #mb_partial_tp>
// CHECK: %[[V:.+]] = dtc.reshape %[[W]]
// CHECK: %[[S:.+]] = dtc.reduce_sum %[[V]] axes [1] {{.+}} -> tensor<8x1x3xf32, #mb_partial_tp>
// CHECK: %[[R:.+]] = dtc.reshard %[[S]]
// CHECK: dtc.tanh %[[R]]
// CHECK: %[[P:.+]] = dtc.mul %[[Y]], %arg3 {{.+}} -> tensor<8x6xf32, #mb_partial_tp>
// CHECK: dtc.reduce_sum %[[P]] axes [1] {{.+}} -> tensor<8x1xf32, #mb_partial_tp>
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"}, %w: tensor<4x6xf32> {dtc.parameter = "w", dtc.split_dims = {tp = 0}},
                %p: tensor<8x1xf32> {dtc.input = "p", dtc.kind = "input"}, %g: tensor<8x6xf32> {dtc.input = "g", dtc.kind = "input"}) -> (tensor<8x1x3xf32>, tensor<8x1xf32>) {
  %y = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %weighted = dtc.mul %y, %p : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  %v = dtc.reshape %weighted : (tensor<8x6xf32>) -> tensor<8x2x3xf32>
  %s = dtc.reduce_sum %v axes [1] : (tensor<8x2x3xf32>) -> tensor<8x1x3xf32>
  %t = dtc.tanh %s : (tensor<8x1x3xf32>) -> tensor<8x1x3xf32>
  %m = dtc.mul %y, %g : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %q = dtc.reduce_sum %m axes [1] : (tensor<8x6xf32>) -> tensor<8x1xf32>
  %u = dtc.tanh %q : (tensor<8x1xf32>) -> tensor<8x1xf32>
  return %t, %u : tensor<8x1x3xf32>, tensor<8x1xf32>
}

// -----

// Another user needs the value itself, so it is reduced at once.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.+]] = dtc.matmul %{{.+}}, %arg1 {{.+}} -> tensor<8x6xf32, #mb_partial_tp>
// CHECK: %[[R:.+]] = dtc.reshard %[[Y]] : {{.+}} -> tensor<8x6xf32, #mb>
// CHECK-DAG: dtc.mul %[[R]], %arg2
// CHECK-DAG: dtc.tanh %[[R]]
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"}, %w: tensor<4x6xf32> {dtc.parameter = "w", dtc.split_dims = {tp = 0}},
                %p: tensor<8x1xf32> {dtc.input = "p", dtc.kind = "input"}) -> (tensor<8x1xf32>, tensor<8x6xf32>) {
  %y = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %weighted = dtc.mul %y, %p : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  %s = dtc.reduce_sum %weighted axes [1] : (tensor<8x6xf32>) -> tensor<8x1xf32>
  %t = dtc.tanh %y : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %s, %t : tensor<8x1xf32>, tensor<8x6xf32>
}
