// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 ep=2 microbatches=2" --dtc-propagate-layouts --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 ep=2 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives --split-input-file | FileCheck %s --check-prefix=COLLECTIVE

// dp and ep split rows, and so groups. For the products ep moves to the experts,
// and back for combine: an all-to-all each. The gradient of weights is a sum
// over dp alone.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %arg0: tensor<32x4xf32, #mb_dp_ep>
// CHECK-SAME: %arg2: tensor<4x4x6xf32, #ep> {dtc.parameter = "w"}
// CHECK: %[[N:.+]] = dtc.count_rows %arg1 {{.+}} -> tensor<4x8xi32, #mb1_dp1_ep1>
// CHECK: %[[NM:.+]] = dtc.reshard %[[N]] : tensor<4x8xi32, #mb1_dp1_ep1> -> tensor<4x8xi32, #ep_mb1_dp1>
// CHECK: %[[S:.+]] = dtc.dispatch %arg0, %arg1 {{.+}} -> tensor<4x8x4x4xf32, #mb1_dp1_ep1>
// CHECK: %[[SM:.+]] = dtc.reshard %[[S]] : {{.+}} -> tensor<4x8x4x4xf32, #ep_mb1_dp1>
// CHECK: %[[Y:.+]] = dtc.expert_matmul %[[SM]], %arg2, %[[NM]] {{.+}} -> tensor<4x8x4x6xf32, #ep_mb1_dp1>
// CHECK: %[[B:.+]] = dtc.reshard %[[Y]] : {{.+}} -> tensor<4x8x4x6xf32, #mb1_dp1_ep1>
// CHECK: dtc.combine %[[B]], %arg1 {{.+}} -> tensor<32x6xf32, #mb_dp_ep>
// CHECK: dtc.expert_outer %[[SM]], %[[Y]], %[[NM]] {{.+}} -> tensor<4x4x6xf32, #ep_partial_dp_partial_mb>
// COLLECTIVE: dtc.all_to_all %{{.+}} over ["ep"] from 1 to 0 : (tensor<4x8xi32
// COLLECTIVE: dtc.all_to_all %{{.+}} over ["ep"] from 1 to 0 : (tensor<4x8x4x4xf32
// COLLECTIVE: dtc.all_to_all %{{.+}} over ["ep"] from 0 to 1 : (tensor<4x8x4x6xf32
// COLLECTIVE: dtc.all_reduce sum %{{.+}} over ["dp"]
// COLLECTIVE-NOT: dtc.all_gather
func.func @step(%x: tensor<32x4xf32> {dtc.input = "x", dtc.kind = "input"}, %e: tensor<32xi64> {dtc.input = "e", dtc.kind = "input"},
                %w: tensor<4x4x6xf32> {dtc.parameter = "w", dtc.split_dims = {ep = 0}}) -> (tensor<32x6xf32>, tensor<4x4x6xf32> {dtc.gradient = "w"}) {
  %n = dtc.count_rows %e {axis = "ep", capacity = 4 : i64} : (tensor<32xi64>) -> tensor<4x8xi32>
  %s = dtc.dispatch %x, %e {axis = "ep"} : (tensor<32x4xf32>, tensor<32xi64>) -> tensor<4x8x4x4xf32>
  %y = dtc.expert_matmul %s, %w, %n {group_rows = 4 : i64} : (tensor<4x8x4x4xf32>, tensor<4x4x6xf32>, tensor<4x8xi32>) -> tensor<4x8x4x6xf32>
  %r = dtc.combine %y, %e {axis = "ep"} : (tensor<4x8x4x6xf32>, tensor<32xi64>) -> tensor<32x6xf32>
  %dw = dtc.expert_outer %s, %y, %n {group_rows = 4 : i64} : (tensor<4x8x4x4xf32>, tensor<4x8x4x6xf32>, tensor<4x8xi32>) -> tensor<4x4x6xf32>
  return %r, %dw : tensor<32x6xf32>, tensor<4x4x6xf32>
}
