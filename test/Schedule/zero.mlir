// RUN: dtc-opt %s --dtc-flatten-parameters="zero=3 dp=2" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="pp=2 dp=2 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives --dtc-split-stages --dtc-recompute=policy=all | FileCheck %s
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=2 dp=2" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="pp=2 dp=2 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives --dtc-split-stages | FileCheck %s --check-prefix=TWO

// Split parameters on two stages. Functions gather the parameters that they
// need, right before, and keep nothing of them, recomputed or not. A value of
// %table crosses: the prologue makes it, and its gradient is reduced once a
// step.
// CHECK: module @stage0
// CHECK: func.func private @prologue(%arg0: tensor<1x8xf32, #{{.*}}> {dtc.gather{{.*}} -> (tensor<4x2xf32, #replicated>
// CHECK: dtc.all_gather %arg0
// CHECK: dtc.exp
// CHECK: func.func private @forward(
// CHECK: %[[T:.*]] = dtc.all_gather %{{.*}} : (tensor<1x8xf32
// CHECK: %[[H:.*]] = dtc.matmul %arg0
// CHECK: dtc.all_gather %{{.*}} : (tensor<1x4xf32
// CHECK: dtc.matmul
// CHECK: %[[A:.*]] = dtc.relu
// CHECK: return %[[H]], %[[A]]
// CHECK: func.func private @weight(
// CHECK: %[[S:.*]] = dtc.reduce_scatter {{.*}} {dtc.per_microbatch}
// CHECK-NEXT: dtc.accumulate %[[S]]
// CHECK: dtc.all_gather
// CHECK-NEXT: dtc.slice
// CHECK-NEXT: dtc.reshape
// CHECK-NEXT: dtc.matmul
// CHECK: func.func private @update(
// CHECK: dtc.reduce_scatter {{.*}} dim 1 :
// CHECK: module @stage1

// Stage 2 reduces the same at the same times.
// TWO: module @stage0
// TWO: @weight
// TWO: dtc.reduce_scatter {{.*}} -> tensor<1x4xf32
// TWO: @update
// TWO: dtc.reduce_scatter {{.*}} -> tensor<1x8xf32
// TWO: module @stage1
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %table: tensor<4x2xf32> {dtc.parameter = "table"}, %w: tensor<2x2xf32> {dtc.parameter = "w"})
    -> (tensor<4x2xf32> {dtc.gradient = "table"}, tensor<2x2xf32> {dtc.gradient = "w"}) {
  %h = dtc.matmul %x, %table : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %u = dtc.matmul %h, %w : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %a = dtc.relu %u : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %a1 = dtc.boundary %a from 0 to 1 : tensor<8x2xf32>
  %e = dtc.exp %table : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %t1 = dtc.boundary %e from 0 to 1 : tensor<4x2xf32>
  %y = dtc.matmul %a1, %t1 {transpose_rhs} : (tensor<8x2xf32>, tensor<4x2xf32>) -> tensor<8x4xf32>
  %gt1 = dtc.matmul %y, %a1 {transpose_lhs} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %da1 = dtc.matmul %y, %t1 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %ge = dtc.boundary %gt1 from 1 to 0 : tensor<4x2xf32>
  %gt = dtc.mul %ge, %e : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %da = dtc.boundary %da1 from 1 to 0 : tensor<8x2xf32>
  %du = dtc.mul %da, %a : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %gw = dtc.matmul %h, %du {transpose_lhs} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  %dh = dtc.matmul %du, %w {transpose_rhs} : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %gt0 = dtc.matmul %x, %dh {transpose_lhs} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %g = dtc.add %gt0, %gt : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %g, %gw : tensor<4x2xf32>, tensor<2x2xf32>
}
