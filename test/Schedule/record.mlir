// RUN: dtc-opt %s --dtc-split-stages --dtc-schedule-microbatches | FileCheck %s

// The model's output is recorded in each micro-batch of an evaluation, on the
// stage that computes it. It is no result of a plan.

#mesh = #dtc.mesh<pp=2, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial, mb: partial>
#pd = #dtc.layout<#mesh, dp: partial>

// CHECK-LABEL: module @stage0
// CHECK-NOT:   dtc.record
// CHECK-LABEL: module @eval0
// CHECK-NOT:   dtc.record
// CHECK-LABEL: module @eval1
// CHECK:       func.func @plan({{.*}}) -> (tensor<f64, #replicated> {dtc.output = "eval"
// CHECK-SAME:  dtc.records = [{dtc.output = "recorded", dtc.unpadded = array<i64: 8, 3>, phase = #dtc.phase<forward>, type = tensor<8x4xf32, #mb_dp>, value = {{[0-9]+}} : i64}]
// CHECK:       %[[A:.+]]:2 = dtc.run @forward({{.*}}) microbatch 0
// CHECK-NEXT:  dtc.record %[[A]]#{{[01]}} microbatch 0 : tensor<4x4xf32, #dp>
// CHECK:       %[[B:.+]]:2 = dtc.run @forward({{.*}}) microbatch 1
// CHECK-NEXT:  dtc.record %[[B]]#{{[01]}} microbatch 1 : tensor<4x4xf32, #dp>
module {
  func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"}, %t: tensor<8x4xf32, #b> {dtc.input = "labels", dtc.kind = "label"},
                  %w: tensor<4x4xf32, #r> {dtc.parameter = "w"})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<f64, #r> {dtc.output = "eval"},
          tensor<8x4xf32, #b> {dtc.output = "recorded", dtc.unpadded = array<i64: 8, 3>}) {
    %h = dtc.matmul %x, %w : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
    %a = dtc.boundary %h from 0 to 1 : tensor<8x4xf32, #b>
    %y = dtc.sub %a, %t : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
    %l = dtc.sum_squares %y : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
    %m = dtc.sum_microbatches %l : tensor<f64, #p> -> tensor<f64, #pd>
    %s = dtc.all_reduce sum %m over ["dp"] : (tensor<f64, #pd>) -> tensor<f64, #r>
    %e = dtc.sum_over_stages %s : (tensor<f64, #r>) -> tensor<f64, #r>
    return %e, %e, %y : tensor<f64, #r>, tensor<f64, #r>, tensor<8x4xf32, #b>
  }
}
