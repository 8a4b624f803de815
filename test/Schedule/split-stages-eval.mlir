// RUN: dtc-opt %s --dtc-split-stages --split-input-file | FileCheck %s

// Each function has what its results need: no update in the evaluation, no
// learning rate, no optimizer state, and no communication of it in the step.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#mb_dp = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial(sum), mb: partial(sum)>
#pd = #dtc.layout<#mesh, dp: partial(sum)>
#r = #dtc.layout<#mesh>

// CHECK-LABEL: module @stage0
// CHECK:       func.func private @forward
// CHECK-NEXT:  dtc.mul
// CHECK-NEXT:  dtc.sum_squares
// CHECK-NOT:   dtc.neg
// CHECK:       func.func private @update
// CHECK:       dtc.sgd
// CHECK:       func.func private @plan({{.*}}dtc.input = "lr"

// CHECK-LABEL: module @eval0 attributes {dtc.program = "eval"
// CHECK:       func.func private @forward
// CHECK-NEXT:  %[[Y:.+]] = dtc.mul
// CHECK-NEXT:  %[[N:.+]] = dtc.neg %[[Y]]
// CHECK-NEXT:  dtc.sum_squares %[[N]]
// CHECK-NOT:   dtc.sgd
// CHECK:       func.func private @plan(
// CHECK-NOT:   dtc.input = "lr"
// CHECK-SAME:  dtc.input = "x"
// CHECK-NOT:   dtc.input = "lr"
// CHECK-SAME:  -> ({{.*}}dtc.output = "eval"
module {
  func.func @step(%x: tensor<8x4xf32, #mb_dp> {dtc.input = "x"}, %lr: tensor<f64, #r> {dtc.input = "lr"},
                  %w: tensor<4xf32, #r> {dtc.parameter = "w"})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<f64, #r> {dtc.output = "eval"}, tensor<4xf32, #r> {dtc.parameter = "w"}) {
    %y = dtc.mul %x, %w : (tensor<8x4xf32, #mb_dp>, tensor<4xf32, #r>) -> tensor<8x4xf32, #mb_dp>
    %0 = dtc.sum_squares %y : (tensor<8x4xf32, #mb_dp>) -> tensor<f64, #p>
    %1 = dtc.sum_microbatches %0 : tensor<f64, #p> -> tensor<f64, #pd>
    %2 = dtc.all_reduce sum %1 over ["dp"] : (tensor<f64, #pd>) -> tensor<f64, #r>
    %w1 = dtc.sgd %w, %w, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32, #r>, tensor<4xf32, #r>, tensor<f64, #r>) -> tensor<4xf32, #r>
    %n = dtc.neg %y : (tensor<8x4xf32, #mb_dp>) -> tensor<8x4xf32, #mb_dp>
    %3 = dtc.sum_squares %n : (tensor<8x4xf32, #mb_dp>) -> tensor<f64, #p>
    %4 = dtc.sum_microbatches %3 : tensor<f64, #p> -> tensor<f64, #pd>
    %5 = dtc.all_reduce sum %4 over ["dp"] : (tensor<f64, #pd>) -> tensor<f64, #r>
    return %2, %5, %w1 : tensor<f64, #r>, tensor<f64, #r>, tensor<4xf32, #r>
  }
}

// -----

// Without such a result there is no evaluation.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>

// CHECK-LABEL: module @none
// CHECK: module @stage0
// CHECK-NOT: @eval
module @none {
  func.func @step(%x: tensor<f64, #r> {dtc.input = "x"}) -> (tensor<f64, #r> {dtc.output = "loss"}) {
    return %x : tensor<f64, #r>
  }
}
