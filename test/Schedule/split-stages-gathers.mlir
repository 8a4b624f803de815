// RUN: dtc-opt %s --dtc-split-stages | FileCheck %s

// A parameter that is gathered at its uses, one of them in another chunk of the
// stage: the boundary there sends nothing, and the chunk gathers before it reads.

#mesh = #dtc.mesh<pp=2, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial, mb: partial>
func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                %v: tensor<4xf32, #r> {dtc.parameter = "v"},
                %w: tensor<4x4xf32, #dp> {dtc.parameter = "w", dtc.gathered_at_use})
    -> (tensor<f64, #p> {dtc.output = "loss"}) {
  %whole = dtc.all_gather %w over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
  %h0 = dtc.mul %x, %v : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
  %a1 = dtc.boundary %h0 from 0 to 1 : tensor<8x4xf32, #b>
  %h1 = dtc.matmul %a1, %whole : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
  %a2 = dtc.boundary %h1 from 1 to 2 : tensor<8x4xf32, #b>
  %h2 = dtc.relu %a2 : (tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
  %a3 = dtc.boundary %h2 from 2 to 3 : tensor<8x4xf32, #b>
  %later = dtc.boundary %whole from 1 to 3 : tensor<4x4xf32, #r>
  %h3 = dtc.matmul %a3, %later : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
  %l = dtc.sum_squares %h3 : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
  %loss = dtc.sum_over_stages %l : (tensor<f64, #p>) -> tensor<f64, #p>
  return %loss : tensor<f64, #p>
}

// CHECK: module @stage1
// CHECK: @forward(%[[W:[a-z0-9]+]]: tensor<4x4xf32, #dp> {dtc.gathered_at_use, {{[^}]*}}}, %[[A:[a-z0-9]+]]:
// CHECK-NEXT: %[[OWN:.*]] = dtc.all_gather %[[W]]
// CHECK-NEXT: dtc.matmul %[[A]], %[[OWN]]
// CHECK: @forward1(%[[W:[a-z0-9]+]]: tensor<4x4xf32, #dp> {dtc.gathered_at_use, {{[^}]*}}}, %[[A:[a-z0-9]+]]:
// CHECK-NEXT: %[[AGAIN:.*]] = dtc.all_gather %[[W]]
// CHECK-NEXT: dtc.matmul %[[A]], %[[AGAIN]]
