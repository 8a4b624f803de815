// RUN: dtc-opt %s --dtc-flatten-parameters="zero=1 dp=4" --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=1 dp=4" --dtc-add-optimizer="optimizer=sgd settings=momentum=0.9" --dtc-assign-mesh=dp=4 --dtc-propagate-layouts --dtc-insert-collectives --split-input-file | FileCheck %s --check-prefix=PLAN

// Two parameters of 6 + 5 elements are one of 12, of which they are views, and so
// is their gradient.
// CHECK-LABEL: func @step(%arg0: tensor<8x3xf32>
// CHECK-SAME: %arg2: tensor<1x12xf32> {dtc.members = [{name = "a", start = 0 : i64, type = tensor<3x2xf32>}, {name = "b", start = 6 : i64, type = tensor<5xf32>}], dtc.parameter = "/bucket0", dtc.split_dims = {dp = 1 : i64}})
// CHECK-SAME: -> (tensor<1x12xf32> {dtc.gradient = "/bucket0", dtc.members = {{.*}}})
// CHECK: %[[SA:.*]] = dtc.slice %arg2 axis 1 from 0 {view} : (tensor<1x12xf32>) -> tensor<1x6xf32>
// CHECK: %[[A:.*]] = dtc.reshape %[[SA]] : (tensor<1x6xf32>) -> tensor<3x2xf32>
// CHECK: dtc.matmul %arg0, %[[A]]
// CHECK: %[[GA:.*]] = dtc.reshape %{{.*}} : (tensor<3x2xf32>) -> tensor<1x6xf32>
// CHECK: %[[GB:.*]] = dtc.reshape %{{.*}} : (tensor<5xf32>) -> tensor<1x5xf32>
// CHECK: %[[G:.*]] = dtc.concat %[[GA]], %[[GB]] axis 1
// CHECK: %[[GP:.*]] = dtc.pad %[[G]] axis 1 at 0 {dtc.split_dims = {dp = 1 : i64}} : (tensor<1x11xf32>) -> tensor<1x12xf32>
// CHECK: return %[[GP]]

// The layouts imply one gather, before all else.
// PLAN-LABEL: func.func @step(
// PLAN-SAME: %arg3: tensor<1x12xf32, #dp1> {dtc.members = [{name = "a", start = 0 : i64, type = tensor<3x2xf32, #replicated>},
// PLAN-SAME: %arg4: tensor<1x12xf32, #dp1> {{{.*}}dtc.state = "/bucket0.momentum_buffer"})
// PLAN: dtc.all_gather %arg3 over ["dp"] dim 1
// PLAN-NOT: dtc.all_gather
// PLAN: dtc.sum_microbatches
// PLAN: %[[SHARD:.*]] = dtc.reduce_scatter sum {{.*}} over ["dp"] dim 1 : {{.*}} -> tensor<1x12xf32, #dp1>
// PLAN: %[[SQ:.*]] = dtc.sum_squares %[[SHARD]] {{.*}} -> tensor<f64, #partial_dp>
// PLAN: dtc.sgd %arg3, %[[SHARD]]
// PLAN-NOT: dtc.all_gather
// PLAN: return
func.func @step(%x: tensor<8x3xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %a: tensor<3x2xf32> {dtc.parameter = "a"},
                %b: tensor<5xf32> {dtc.parameter = "b"})
    -> (tensor<3x2xf32> {dtc.gradient = "a"}, tensor<5xf32> {dtc.gradient = "b"}) {
  %y = dtc.matmul %x, %a : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %ga = dtc.matmul %x, %y {transpose_lhs} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %s = dtc.slice %ga axis 1 from 0 : (tensor<3x2xf32>) -> tensor<3x1xf32>
  %t = dtc.concat %s, %s axis 0 : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<6x1xf32>
  %u = dtc.slice %t axis 0 from 0 : (tensor<6x1xf32>) -> tensor<5x1xf32>
  %gb = dtc.reshape %u : (tensor<5x1xf32>) -> tensor<5xf32>
  return %ga, %gb : tensor<3x2xf32>, tensor<5xf32>
}

// -----

// Two parameters with one gradient have it twice.
// CHECK-LABEL: func @step
// CHECK: %[[G:.*]] = dtc.concat %[[B:.*]], %{{.*}} axis 1 {{.*}} -> tensor<1x8xf32>
// CHECK: return %[[G]]
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %b: tensor<4xf32> {dtc.parameter = "b"}, %c: tensor<4xf32> {dtc.parameter = "c"})
    -> (tensor<4xf32> {dtc.gradient = "b"}, tensor<4xf32> {dtc.gradient = "c"}) {
  %s = dtc.reduce_sum %x axes [0] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %g = dtc.reshape %s : (tensor<1x4xf32>) -> tensor<4xf32>
  return %g, %g : tensor<4xf32>, tensor<4xf32>
}
