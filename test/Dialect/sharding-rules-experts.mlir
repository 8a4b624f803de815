// The layouts that the rules of grouped products accept.
// RUN: dtc-opt %s | FileCheck %s

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#bt = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(1)>
#bp = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: partial>
#t1 = #dtc.layout<#mesh, tp: split(1)>
#t2 = #dtc.layout<#mesh, tp: split(2)>
#p = #dtc.layout<#mesh, dp: partial, mb: partial>
#pt1 = #dtc.layout<#mesh, dp: partial, mb: partial, tp: split(1)>
#pt2 = #dtc.layout<#mesh, dp: partial, mb: partial, tp: split(2)>

// CHECK-LABEL: func @products
func.func @products(%x: tensor<8x4xf32, #b>, %xt: tensor<8x4xf32, #bt>, %xp: tensor<8x4xf32, #bp>, %i: tensor<8xi64, #b>,
                    %w: tensor<3x4x6xf32, #r>, %wr: tensor<3x4x6xf32, #t1>, %wc: tensor<3x4x6xf32, #t2>, %wt: tensor<3x6x4xf32, #t1>) {
  // By rows; by columns, which are rows of transposed matrices; by the
  // contraction, which is a sum.
  %0 = dtc.grouped_matmul %x, %w, %i : (tensor<8x4xf32, #b>, tensor<3x4x6xf32, #r>, tensor<8xi64, #b>) -> tensor<8x6xf32, #b>
  %1 = dtc.grouped_matmul %x, %wc, %i : (tensor<8x4xf32, #b>, tensor<3x4x6xf32, #t2>, tensor<8xi64, #b>) -> tensor<8x6xf32, #bt>
  %2 = dtc.grouped_matmul %x, %wt, %i {transpose_weights} : (tensor<8x4xf32, #b>, tensor<3x6x4xf32, #t1>, tensor<8xi64, #b>) -> tensor<8x6xf32, #bt>
  %3 = dtc.grouped_matmul %xt, %wr, %i : (tensor<8x4xf32, #bt>, tensor<3x4x6xf32, #t1>, tensor<8xi64, #b>) -> tensor<8x6xf32, #bp>
  // Linear in each factor.
  %4 = dtc.grouped_matmul %xp, %w, %i : (tensor<8x4xf32, #bp>, tensor<3x4x6xf32, #r>, tensor<8xi64, #b>) -> tensor<8x6xf32, #bp>
  return
}

// CHECK-LABEL: func @gradients
func.func @gradients(%x: tensor<8x4xf32, #b>, %xt: tensor<8x4xf32, #bt>, %y: tensor<8x6xf32, #b>, %yt: tensor<8x6xf32, #bt>, %i: tensor<8xi64, #b>) {
  // Rows are summed.
  %0 = dtc.grouped_outer %x, %y, %i : (tensor<8x4xf32, #b>, tensor<8x6xf32, #b>, tensor<8xi64, #b>) -> tensor<3x4x6xf32, #p>
  %1 = dtc.grouped_outer %xt, %y, %i : (tensor<8x4xf32, #bt>, tensor<8x6xf32, #b>, tensor<8xi64, #b>) -> tensor<3x4x6xf32, #pt1>
  %2 = dtc.grouped_outer %x, %yt, %i : (tensor<8x4xf32, #b>, tensor<8x6xf32, #bt>, tensor<8xi64, #b>) -> tensor<3x4x6xf32, #pt2>
  return
}
