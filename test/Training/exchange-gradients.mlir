// RUN: dtc-opt %s --dtc-exchange-gradients="compressor=topk:0.5 dp=2" | FileCheck %s
// RUN: dtc-opt %s --dtc-exchange-gradients="compressor=topk:0.5 dp=2 error-feedback=off" | FileCheck %s --check-prefix=OFF
// RUN: dtc-opt %s --dtc-exchange-gradients="compressor=topk:0.5 dp=2 error-feedback=ef21" | FileCheck %s --check-prefix=EF21
// RUN: dtc-opt %s --dtc-exchange-gradients="compressor=int8 dp=2" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="dp=2 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=INT8
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=1 dp=2 align=256" --dtc-exchange-gradients="compressor=int8 dp=2" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="dp=2 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=ZERO
// RUN: dtc-opt %s --dtc-exchange-gradients="compressor=randk:0.5 dp=2" --dtc-add-optimizer="optimizer=sgd skip-nonfinite" --dtc-assign-mesh="dp=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=RANDOM
// RUN: dtc-opt %s --dtc-exchange-gradients="delay=2 dp=2" --dtc-add-optimizer="optimizer=sgd skip-nonfinite" --dtc-assign-mesh="dp=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=DELAY
// RUN: dtc-opt %s --dtc-exchange-gradients="delay=1 dp=2" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="dp=2 microbatches=2" --dtc-propagate-layouts --dtc-insert-collectives --dtc-split-stages | FileCheck %s --check-prefix=EARLY
// RUN: not dtc-opt %s --dtc-exchange-gradients="compressor=topk:0.5 dp=2 error-feedback=dgc" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not dtc-opt %s --dtc-exchange-gradients="compressor=topk dp=2" 2>&1 | FileCheck %s --check-prefix=NUMBER

// Each tensor selects half of its elements. All ranks get all codes.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[E:[a-z0-9]+]]: tensor<2x1x8xf32> {dtc.members = [{each = "dp", name = "w", start = 0 : i64, type = tensor<3x2xf32>}, {each = "dp", name = "b", start = 6 : i64, type = tensor<2xf32>}], dtc.optional, dtc.split_dims = {dp = 0 : i64}, dtc.state = "/gradients0.residual"}
// CHECK: %[[G:.*]] = dtc.concat {{.*}} -> tensor<1x8xf32>
// CHECK: %[[T:.*]] = dtc.terms %[[G]] over "dp" : tensor<1x8xf32> -> tensor<2x1x8xf32>
// CHECK: %[[P:.*]] = dtc.add %[[T]], %[[E]]
// CHECK: dtc.top_k {{.*}} : (tensor<2x1x6xf32>) -> tensor<2x1x3xi32>
// CHECK: dtc.top_k {{.*}} : (tensor<2x1x2xf32>) -> tensor<2x1x1xi32>
// CHECK: %[[I:.*]] = dtc.concat {{.*}} -> tensor<2x1x4xi32>
// CHECK: %[[V:.*]] = dtc.gather %[[P]], %[[I]]
// CHECK: %[[D:.*]] = dtc.scatter_add %[[I]], %[[V]]
// CHECK: dtc.reshape %[[I]] {dtc.split_dims = {dp = -1 : i64}}
// CHECK: dtc.reshape %[[V]] {dtc.split_dims = {dp = -1 : i64}}
// CHECK: %[[S:.*]] = dtc.scatter_add {{.*}} -> tensor<1x8xf32>
// CHECK: dtc.slice %[[S]] axis 1 from 6 {view}
// CHECK: %[[R:.*]] = dtc.sub %[[P]], %[[D]]
// CHECK: dtc.keep %[[E]], %[[R]]

// OFF-NOT: dtc.keep
// OFF-NOT: residual

// Codes are those of changes.
// EF21: %[[T:.*]] = dtc.terms
// EF21: %[[C:.*]] = dtc.sub %[[T]], %[[H:.*]] :
// EF21: %[[I:.*]] = dtc.concat {{.*}} -> tensor<2x1x4xi32>
// EF21: dtc.gather %[[C]], %[[I]]
// EF21: dtc.keep %[[H]]
// EF21: dtc.keep

// Blocks go to the ranks that add them, and back as codes of the sum. Codes are
// of the sum over micro-batches.
// INT8: %[[SUM:.*]] = dtc.sum_microbatches {{.*}} -> tensor<1x512xf32, #partial_dp>
// INT8: dtc.terms %[[SUM]] over "dp" : tensor<1x512xf32, #partial_dp> -> tensor<2x1x512xf32, #dp>
// INT8: dtc.all_to_all {{.*}} over ["dp"] from 0 to 2 : (tensor<2x1x2x256xi8, #dp>) -> tensor<2x1x2x256xi8, #dp2>
// INT8: dtc.all_to_all {{.*}} : (tensor<2x1x2x1xf32, #dp>)
// INT8: dtc.reduce_sum {{.*}} axes [0] : (tensor<2x1x512xf32, #dp2>) -> tensor<1x1x512xf32, #dp2>
// INT8: dtc.keep {{.*}} -> tensor<1x512xf32, #dp1>
// INT8: dtc.all_gather {{.*}} over ["dp"] dim 1 : (tensor<1x2x256xi8, #dp1>) -> tensor<1x2x256xi8, #replicated>
// INT8: dtc.keep {{.*}} -> tensor<2x1x512xf32, #dp>

// ZeRO updates the part of each rank, so no code comes back.
// ZERO: dtc.all_gather {{.*}} : (tensor<1x512xf32, #dp1>) -> tensor<1x512xf32, #replicated>
// ZERO: dtc.all_to_all {{.*}} : (tensor<2x1x2x256xi8, #dp>)
// ZERO-NOT: dtc.all_gather
// ZERO: dtc.sgd {{.*}} tensor<1x512xf32, #dp1>
// ZERO-NOT: sum_residual

// All ranks draw the same places, so their values add up. A skipped step keeps
// the residual.
// RANDOM: dtc.random_uniform
// RANDOM: dtc.all_reduce sum {{.*}} : (tensor<1x4xf32, #partial_dp>) -> tensor<1x4xf32, #replicated>
// RANDOM: %[[NORM:.*]] = dtc.sqrt
// RANDOM: dtc.keep {{.*}}, {{.*}}, %[[NORM]] : (tensor<2x1x8xf32, #dp>, tensor<2x1x8xf32, #dp>, tensor<f64, #replicated>)

// The oldest terms are summed. The queue moves on in skipped steps, too.
// DELAY: %[[T:.*]] = dtc.terms
// DELAY: dtc.keep %[[OLD:arg[0-9]+]], %[[NEW:arg[0-9]+]] {always}
// DELAY: dtc.keep %[[NEW]], %[[T]] {always}
// DELAY: %[[S:.*]] = dtc.reduce_sum %[[OLD]] axes [0]
// DELAY: dtc.all_reduce sum

// They are reduced before the first micro-batch.
// EARLY: func.func private @prologue
// EARLY: dtc.all_reduce sum {{.*}} over ["dp"] : (tensor<1x8xf32

// MOMENTUM: error: --error-feedback is 'dgc', expected on, ef21, off, or dgc:M with a momentum of at least 0 and below 1

// NUMBER: error: --compress is 'topk', expected topk:R

func.func @step(%x: tensor<8x3xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<3x2xf32> {dtc.parameter = "w"}, %b: tensor<2xf32> {dtc.parameter = "b"})
    -> (tensor<f64> {dtc.output = "loss"}, tensor<3x2xf32> {dtc.gradient = "w"}, tensor<2xf32> {dtc.gradient = "b"}) {
  %h = dtc.matmul %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %y = dtc.add %h, %b : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %loss = dtc.sum_squares %y : (tensor<8x2xf32>) -> tensor<f64>
  %gw = dtc.matmul %x, %y {transpose_lhs} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %s = dtc.reduce_sum %y axes [0] : (tensor<8x2xf32>) -> tensor<1x2xf32>
  %gb = dtc.reshape %s : (tensor<1x2xf32>) -> tensor<2xf32>
  return %loss, %gw, %gb : tensor<f64>, tensor<3x2xf32>, tensor<2xf32>
}
