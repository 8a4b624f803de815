// RUN: dtc-opt %s --dtc-flatten-parameters="zero=3 dp=4" | FileCheck %s
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=3 dp=4" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="dp=4 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=PLAN
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=2 dp=4" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="dp=4 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=TWO
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=3 dp=4 hsdp=2" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="dp=4 hsdp=2 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=HYBRID
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=3 dp=4 gather=step" | FileCheck %s --check-prefix=STEP
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=3 dp=4 gather=h*" | FileCheck %s --check-prefix=GLOB
// RUN: not dtc-opt %s --dtc-flatten-parameters="zero=3 dp=4 gather=nothing.*" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=3 dp=1 offload=parameters" | FileCheck %s --check-prefix=HOST
// RUN: not dtc-opt %s --dtc-flatten-parameters="zero=3 dp=1" 2>&1 | FileCheck %s --check-prefix=ALONE

// One rank alone gathers from the host's memory only.
// HOST: func.func @step({{.*}}dtc.gathered_at_use, {{.*}}dtc.parameter = "/bucket0"
// ALONE: error: --zero splits optimizer state over the ranks that share the batch, of which there is 1; use --dp 2 or more, or --offload parameters on a GPU

// The parameters of a layer, 6 + 2 elements in the order of their gradients, are
// one argument; those of the other layer another. Their uses see slices.
// CHECK-LABEL: func @step(%arg0: tensor<8x3xf32>
// CHECK-SAME: %arg2: tensor<1x4xf32> {dtc.gathered_at_use,{{[^%]*}}dtc.parameter = "/bucket0", dtc.split_dims = {dp = 1 : i64}}
// CHECK-SAME: %arg3: tensor<1x8xf32> {dtc.gathered_at_use,{{[^%]*}}dtc.members = [{name = "h.0.b", start = 0 : i64, type = tensor<2xf32>}, {name = "h.0.w", start = 2 : i64, type = tensor<3x2xf32>}], dtc.parameter = "/bucket1", dtc.split_dims = {dp = 1 : i64}})
// CHECK-SAME: dtc.gradient = "/bucket0"
// CHECK-SAME: dtc.gradient = "/bucket1"
// CHECK: dtc.slice %arg3 axis 1 from 0 {view} : (tensor<1x8xf32>) -> tensor<1x2xf32>
// CHECK: %[[W:.*]] = dtc.slice %arg3 axis 1 from 2 {view} : (tensor<1x8xf32>) -> tensor<1x6xf32>
// CHECK: %[[WR:.*]] = dtc.reshape %[[W]] : (tensor<1x6xf32>) -> tensor<3x2xf32>
// CHECK: dtc.matmul %arg0, %[[WR]]
// CHECK: %[[G:.*]] = dtc.concat {{.*}} {dtc.per_microbatch, dtc.split_dims = {dp = 1 : i64}}
// CHECK: return %{{.*}}, %[[G]]

// One gather of each bucket; gradients are scattered before they are summed;
// what is updated stays split.
// PLAN: dtc.all_gather %arg4 over ["dp"] dim 1
// PLAN: dtc.all_gather %arg3 over ["dp"] dim 1
// PLAN-NOT: dtc.all_gather
// PLAN: %[[S:.*]] = dtc.reduce_scatter sum {{.*}} over ["dp"] dim 1 {dtc.per_microbatch} : {{.*}} -> tensor<1x8xf32, #dp1_partial_mb>
// PLAN: dtc.sum_microbatches %[[S]]
// PLAN: dtc.sgd %arg4, {{.*}} -> tensor<1x8xf32, #dp1>

// Stage 2 has buckets by size, gathered once a step.
// TWO: func.func @step({{.*}}%arg3: tensor<1x12xf32
// TWO-NOT: dtc.gathered_at_use
// TWO: dtc.all_gather
// TWO: dtc.reduce_scatter {{.*}} {dtc.per_microbatch}
// TWO: dtc.sgd

// Hybrid: scattered within a group, then summed over micro-batches and groups.
// HYBRID: dtc.all_gather %arg4 over ["shard"] dim 1
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
    -> (tensor<3x2xf32> {dtc.gradient = "h.0.w"}, tensor<2xf32> {dtc.gradient = "h.0.b"}, tensor<2x2xf32> {dtc.gradient = "head.c"}) {
  %h = dtc.matmul %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %a = dtc.add %h, %b : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %y = dtc.matmul %a, %c : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %gc = dtc.matmul %a, %y {transpose_lhs} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  %da = dtc.matmul %y, %c {transpose_rhs} : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %sb = dtc.reduce_sum %da axes [0] : (tensor<8x2xf32>) -> tensor<1x2xf32>
  %gb = dtc.reshape %sb : (tensor<1x2xf32>) -> tensor<2xf32>
  %gw = dtc.matmul %x, %da {transpose_lhs} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  return %gw, %gb, %gc : tensor<3x2xf32>, tensor<2xf32>, tensor<2x2xf32>
}
