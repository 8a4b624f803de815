// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 microbatches=2" --dtc-shard-optimizer=zero=3 | FileCheck %s
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 microbatches=2" --dtc-shard-optimizer=zero=3 --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=PLAN
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 microbatches=2" --dtc-shard-optimizer=zero=2 --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=TWO
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 hsdp=2 microbatches=2" --dtc-shard-optimizer=zero=3 --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=HYBRID
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 microbatches=2" --dtc-shard-optimizer="zero=3 gather=step" | FileCheck %s --check-prefix=STEP
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 microbatches=2" --dtc-shard-optimizer="zero=3 gather=h*" | FileCheck %s --check-prefix=GLOB
// RUN: not dtc-opt %s --dtc-assign-mesh="dp=4" --dtc-shard-optimizer="zero=3 gather=nothing.*" 2>&1 | FileCheck %s --check-prefix=NONE

// The parameters of a layer, 6 + 2 elements in the order of their gradients, are
// one argument; those of the other layer another. Their uses see slices.
// CHECK-LABEL: func @step(%arg0: tensor<8x3xf32>
// CHECK-SAME: %arg2: tensor<1x4xf32> {dtc.gathered_at_use,{{[^%]*}}dtc.parameter = "/bucket0"}
// CHECK-SAME: %arg3: tensor<1x8xf32> {dtc.gathered_at_use,{{[^%]*}}dtc.members = [{name = "h.0.b", start = 0 : i64, type = tensor<2xf32, #{{.*}}>}, {name = "h.0.w", start = 2 : i64, type = tensor<3x2xf32, #{{.*}}>}], dtc.parameter = "/bucket1"})
// CHECK-SAME: dtc.gradient = "/bucket1"
// CHECK-SAME: dtc.gradient = "/bucket0"
// CHECK: dtc.slice %arg3 axis 1 from 0 {view} : (tensor<1x8xf32>) -> tensor<1x2xf32>
// CHECK: %[[W:.*]] = dtc.slice %arg3 axis 1 from 2 {view} : (tensor<1x8xf32>) -> tensor<1x6xf32>
// CHECK: %[[WR:.*]] = dtc.reshape %[[W]] : (tensor<1x6xf32>) -> tensor<3x2xf32>
// CHECK: dtc.matmul %arg0, %[[WR]]
// CHECK: %[[G:.*]] = dtc.concat {{.*}} {dtc.per_microbatch, dtc.split_dims = {dp = 1 : i64}}
// CHECK: dtc.sum_squares %[[G]]
// CHECK: dtc.sgd %arg3, %[[G]], %arg1

// One gather of each bucket; gradients are scattered before they are summed;
// what is updated stays split.
// PLAN: dtc.all_gather %arg3 over ["dp"] dim 1
// PLAN: dtc.all_gather %arg2 over ["dp"] dim 1
// PLAN-NOT: dtc.all_gather
// PLAN: %[[S:.*]] = dtc.reduce_scatter sum {{.*}} over ["dp"] dim 1 {dtc.per_microbatch} : {{.*}} -> tensor<1x8xf32, #dp1_partial_mb>
// PLAN: dtc.sum_microbatches %[[S]]
// PLAN: dtc.sgd %arg3, {{.*}} -> tensor<1x8xf32, #dp1>

// Stage 2 has buckets by size, gathered once a step.
// TWO: func.func @step({{.*}}%arg2: tensor<1x12xf32
// TWO-NOT: dtc.gathered_at_use
// TWO: dtc.all_gather
// TWO: dtc.reduce_scatter {{.*}} {dtc.per_microbatch}
// TWO: dtc.sgd

// Hybrid: scattered within a group, then summed over micro-batches and groups.
// HYBRID: dtc.all_gather %arg3 over ["shard"] dim 1
// HYBRID: %[[S:.*]] = dtc.reduce_scatter sum {{.*}} over ["shard"] dim 1 {dtc.per_microbatch}
// HYBRID: %[[M:.*]] = dtc.sum_microbatches %[[S]]
// HYBRID: dtc.all_reduce sum %[[M]] over ["dp"] : (tensor<1x4xf32

// STEP-NOT: dtc.gathered_at_use
// GLOB: name = "h.0.b"{{.*}}name = "h.0.w"
// NONE: error: cannot gather 'nothing.*': no trained parameter has a name that begins so; expected layer, step or a pattern
func.func @step(%x: tensor<8x3xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %w: tensor<3x2xf32> {dtc.parameter = "h.0.w"}, %b: tensor<2xf32> {dtc.parameter = "h.0.b"},
                %c: tensor<2x2xf32> {dtc.parameter = "head.c"})
    -> (tensor<f64> {dtc.output = "grad_norm"},
        tensor<3x2xf32> {dtc.parameter = "h.0.w"}, tensor<2xf32> {dtc.parameter = "h.0.b"},
        tensor<2x2xf32> {dtc.parameter = "head.c"},
        tensor<3x2xf32> {dtc.gradient = "h.0.w"}, tensor<2xf32> {dtc.gradient = "h.0.b"},
        tensor<2x2xf32> {dtc.gradient = "head.c"}) {
  %h = dtc.matmul %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %a = dtc.add %h, %b : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %y = dtc.matmul %a, %c : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %gc = dtc.matmul %a, %y {transpose_lhs} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  %da = dtc.matmul %y, %c {transpose_rhs} : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %sb = dtc.reduce_sum %da axes [0] : (tensor<8x2xf32>) -> tensor<1x2xf32>
  %gb = dtc.reshape %sb : (tensor<1x2xf32>) -> tensor<2xf32>
  %gw = dtc.matmul %x, %da {transpose_lhs} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %qw = dtc.sum_squares %gw : (tensor<3x2xf32>) -> tensor<f64>
  %qb = dtc.sum_squares %gb : (tensor<2xf32>) -> tensor<f64>
  %qc = dtc.sum_squares %gc : (tensor<2x2xf32>) -> tensor<f64>
  %q0 = dtc.add %qw, %qb : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %q = dtc.add %q0, %qc : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %norm = dtc.sqrt %q : (tensor<f64>) -> tensor<f64>
  %w1 = dtc.sgd %w, %gw, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<f64>) -> tensor<3x2xf32>
  %b1 = dtc.sgd %b, %gb, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<2xf32>, tensor<2xf32>, tensor<f64>) -> tensor<2xf32>
  %c1 = dtc.sgd %c, %gc, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<f64>) -> tensor<2x2xf32>
  return %norm, %w1, %b1, %c1, %gw, %gb, %gc : tensor<f64>, tensor<3x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<2x2xf32>
}
