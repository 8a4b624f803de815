// RUN: dtc-opt %s --dtc-split-stages | FileCheck %s

// One chunk of a stage makes a value and another reads it: the first passes it
// on, activations to later chunks, gradients to earlier ones. With one
// micro-batch a gradient is a value like others.

#mesh = #dtc.mesh<pp=2, dp=1, mb=1>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#e = #dtc.layout<#mesh, mb: each>
#p = #dtc.layout<#mesh, mb: partial>
func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                %v: tensor<4xf32, #r> {dtc.parameter = "v"}, %w: tensor<4x4xf32, #r> {dtc.parameter = "w"})
    -> (tensor<4x4xf32, #r> {dtc.gradient = "w"}) {
  %h0 = dtc.mul %x, %v : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
  %a1 = dtc.boundary %h0 from 0 to 1 : tensor<8x4xf32, #b>
  %h1 = dtc.matmul %a1, %w : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
  %skip = dtc.boundary %h1 from 1 to 3 : tensor<8x4xf32, #b>
  %a2 = dtc.boundary %h1 from 1 to 2 : tensor<8x4xf32, #b>
  %h2 = dtc.relu %a2 : (tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
  %a3 = dtc.boundary %h2 from 2 to 3 : tensor<8x4xf32, #b>
  %h3 = dtc.add %a3, %skip : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
  %d3 = dtc.matmul %a3, %h3 {transpose_lhs} : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<4x4xf32, #e>
  %d31 = dtc.boundary %d3 from 3 to 1 : tensor<4x4xf32, #e>
  %d1 = dtc.matmul %a1, %h1 {transpose_lhs} : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<4x4xf32, #e>
  %d = dtc.add %d1, %d31 : (tensor<4x4xf32, #e>, tensor<4x4xf32, #e>) -> tensor<4x4xf32, #e>
  %part = dtc.as_partial %d over ["mb"] : tensor<4x4xf32, #e> -> tensor<4x4xf32, #p>
  %g = dtc.sum_microbatches %part : tensor<4x4xf32, #p> -> tensor<4x4xf32, #r>
  return %g : tensor<4x4xf32, #r>
}

// CHECK: module @stage1
// CHECK: @forward(
// CHECK-NEXT: %[[H1:.*]] = dtc.matmul
// CHECK-NEXT: return %[[H1]] : {{.*}}
// CHECK: @backward1(
// CHECK-NEXT: %[[H3:.*]] = dtc.add
// CHECK-NEXT: %[[D3:.*]] = dtc.matmul %{{.*}}, %[[H3]] {transpose_lhs}
// CHECK-NEXT: return %[[D3]] :
// CHECK: @weight(
// CHECK-NEXT: %[[D1:.*]] = dtc.matmul {{.*}} {transpose_lhs}
// CHECK-NEXT: %[[D:.*]] = dtc.add %[[D1]],
// CHECK-NEXT: return %[[D]] :
