// RUN: dtc-opt %s --dtc-assign-mesh="dp=4" --dtc-shard-optimizer=zero=1 --split-input-file -verify-diagnostics | FileCheck %s
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4" --dtc-shard-optimizer=zero=1 --dtc-propagate-layouts --dtc-insert-collectives --split-input-file | FileCheck %s --check-prefix=PLAN

// Two parameters of 6 + 5 elements are one of 12, of which they are views, and so
// are their gradients and their state; all are split.
// CHECK-LABEL: func @step(%arg0: tensor<8x3xf32>
// CHECK-SAME: %arg2: tensor<1x12xf32> {dtc.layout = #dtc.layout<#mesh, dp: split(1)>, dtc.members = [{name = "a", start = 0 : i64, type = tensor<3x2xf32, #{{[a-z]*}}>}, {name = "b", start = 6 : i64, type = tensor<5xf32, #{{[^%]*}}dtc.parameter = "/bucket0"}
// CHECK-SAME: %arg3: tensor<1x12xf32> {dtc.layout = #dtc.layout<#mesh, dp: split(1)>, {{[^%]*}}dtc.state = "/bucket0.momentum_buffer"})
// CHECK-SAME: -> (tensor<f64> {dtc.output = "grad_norm"}, tensor<1x12xf32> {dtc.members = {{.*}} dtc.parameter = "/bucket0"}, tensor<1x12xf32> {dtc.members = {{.*}} dtc.state = "/bucket0.momentum_buffer"}, tensor<1x12xf32> {dtc.gradient = "/bucket0", dtc.members = 
// CHECK: %[[SA:.*]] = dtc.slice %arg2 axis 1 from 0 {view} : (tensor<1x12xf32>) -> tensor<1x6xf32>
// CHECK: %[[A:.*]] = dtc.reshape %[[SA]] : (tensor<1x6xf32>) -> tensor<3x2xf32>
// CHECK: dtc.matmul %arg0, %[[A]]
// CHECK: %[[GA:.*]] = dtc.reshape %{{.*}} : (tensor<3x2xf32>) -> tensor<1x6xf32>
// CHECK: %[[GB:.*]] = dtc.reshape %{{.*}} : (tensor<5xf32>) -> tensor<1x5xf32>
// CHECK: %[[G:.*]] = dtc.concat %[[GA]], %[[GB]] axis 1
// CHECK: %[[GP:.*]] = dtc.pad %[[G]] axis 1 at 0 {dtc.split_dims = {dp = 1 : i64}} : (tensor<1x11xf32>) -> tensor<1x12xf32>
// CHECK: %[[N:.*]] = dtc.sum_squares %[[GP]]
// CHECK: %[[Z:.*]] = dtc.constant dense<0.000000e+00>
// CHECK: dtc.add %[[N]], %[[Z]]
// CHECK: %[[NEW:.*]], %[[STATE:.*]] = dtc.sgd %arg2, %[[GP]], %{{.*}}, %arg3
// CHECK: return %{{.*}}, %[[NEW]], %[[STATE]], %[[GP]]

// What follows from the layouts: one gather, before all else.
// PLAN: dtc.all_gather %arg2 over ["dp"] dim 1
// PLAN-NOT: dtc.all_gather
// PLAN: dtc.sum_microbatches
// PLAN: %[[SHARD:.*]] = dtc.reduce_scatter sum {{.*}} over ["dp"] dim 1 : {{.*}} -> tensor<1x12xf32, #dp1>
// PLAN: %[[SQ:.*]] = dtc.sum_squares %[[SHARD]] {{.*}} -> tensor<f64, #partial_dp>
// PLAN: dtc.sgd %arg2, %[[SHARD]]
// PLAN-NOT: dtc.all_gather
// PLAN: return
func.func @step(%x: tensor<8x3xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %a: tensor<3x2xf32> {dtc.parameter = "a"}, %ma: tensor<3x2xf32> {dtc.state = "a.momentum_buffer"},
                %b: tensor<5xf32> {dtc.parameter = "b"}, %mb: tensor<5xf32> {dtc.state = "b.momentum_buffer"})
    -> (tensor<f64> {dtc.output = "grad_norm"},
        tensor<3x2xf32> {dtc.parameter = "a"}, tensor<3x2xf32> {dtc.state = "a.momentum_buffer"},
        tensor<5xf32> {dtc.parameter = "b"}, tensor<5xf32> {dtc.state = "b.momentum_buffer"},
        tensor<3x2xf32> {dtc.gradient = "a"}, tensor<5xf32> {dtc.gradient = "b"}) {
  %y = dtc.matmul %x, %a : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %ga = dtc.matmul %x, %y {transpose_lhs} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %s = dtc.slice %ga axis 1 from 0 : (tensor<3x2xf32>) -> tensor<3x1xf32>
  %t = dtc.concat %s, %s axis 0 : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<6x1xf32>
  %u = dtc.slice %t axis 0 from 0 : (tensor<6x1xf32>) -> tensor<5x1xf32>
  %gb = dtc.reshape %u : (tensor<5x1xf32>) -> tensor<5xf32>
  %qa = dtc.sum_squares %ga : (tensor<3x2xf32>) -> tensor<f64>
  %qb = dtc.sum_squares %gb : (tensor<5xf32>) -> tensor<f64>
  %q = dtc.add %qa, %qb : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %norm = dtc.sqrt %q : (tensor<f64>) -> tensor<f64>
  %a1, %ma1 = dtc.sgd %a, %ga, %lr, %ma {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<f64>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  %b1, %mb1 = dtc.sgd %b, %gb, %lr, %mb {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<5xf32>, tensor<5xf32>, tensor<f64>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %norm, %a1, %ma1, %b1, %mb1, %ga, %gb : tensor<f64>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x2xf32>, tensor<5xf32>
}

// -----

// Two parameters with one gradient: its squares count twice.
// CHECK-LABEL: func @step
// CHECK: %[[G:.*]] = dtc.concat
// CHECK: %[[N:.*]] = dtc.sum_squares %[[G]]
// CHECK: %[[Z:.*]] = dtc.constant dense<0.000000e+00>
// CHECK: %[[Q:.*]] = dtc.add %[[Z]], %[[N]] : (tensor<f64>, tensor<f64>)
// CHECK-NOT: dtc.sum_squares
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %b: tensor<4xf32> {dtc.parameter = "b"}, %c: tensor<4xf32> {dtc.parameter = "c"})
    -> (tensor<f64> {dtc.output = "grad_norm"}, tensor<4xf32> {dtc.parameter = "b"}, tensor<4xf32> {dtc.parameter = "c"},
        tensor<4xf32> {dtc.gradient = "b"}, tensor<4xf32> {dtc.gradient = "c"}) {
  %s = dtc.reduce_sum %x axes [0] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %g = dtc.reshape %s : (tensor<1x4xf32>) -> tensor<4xf32>
  %q = dtc.sum_squares %g : (tensor<4xf32>) -> tensor<f64>
  %n = dtc.add %q, %q : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %b1 = dtc.sgd %b, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %c1 = dtc.sgd %c, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return %n, %b1, %c1, %g, %g : tensor<f64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
