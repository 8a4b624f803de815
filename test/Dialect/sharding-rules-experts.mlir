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

#emesh = #dtc.mesh<dp=2, ep=2, tp=2, mb=2>
#rows = #dtc.layout<#emesh, mb: split(0), dp: split(0), ep: split(0)>
#groups = #dtc.layout<#emesh, mb: split(1), dp: split(1), ep: split(1)>
#experts = #dtc.layout<#emesh, ep: split(0), mb: split(1), dp: split(1)>
#expertsc = #dtc.layout<#emesh, ep: split(0), mb: split(1), dp: split(1), tp: split(3)>
#expertsp = #dtc.layout<#emesh, ep: split(0), mb: split(1), dp: split(1), tp: partial>
#w = #dtc.layout<#emesh, ep: split(0)>
#wc = #dtc.layout<#emesh, ep: split(0), tp: split(2)>
#wr = #dtc.layout<#emesh, ep: split(0), tp: split(1)>
#dw = #dtc.layout<#emesh, ep: split(0), dp: partial, mb: partial>

// CHECK-LABEL: func @slots
func.func @slots(%x: tensor<32x4xf32, #rows>, %i: tensor<32xi64, #rows>) {
  // Groups follow the rows.
  %0 = dtc.dispatch %x, %i {axis = "ep"} : (tensor<32x4xf32, #rows>, tensor<32xi64, #rows>) -> tensor<4x8x3x4xf32, #groups>
  %1 = dtc.combine %0, %i {axis = "ep"} : (tensor<4x8x3x4xf32, #groups>, tensor<32xi64, #rows>) -> tensor<32x4xf32, #rows>
  %2 = dtc.count_rows %i {axis = "ep", capacity = 3 : i64} : (tensor<32xi64, #rows>) -> tensor<4x8xi32, #groups>
  return
}

// CHECK-LABEL: func @expert_products
func.func @expert_products(%s: tensor<4x8x3x4xf32, #experts>, %sc: tensor<4x8x3x4xf32, #expertsc>, %n: tensor<4x8xi32, #experts>,
                           %w: tensor<4x4x6xf32, #w>, %wc: tensor<4x4x6xf32, #wc>, %wr: tensor<4x4x6xf32, #wr>, %y: tensor<4x8x3x6xf32, #experts>) {
  // By experts and groups; also by columns or by the contraction.
  %0 = dtc.expert_matmul %s, %w, %n {group_rows = 4 : i64} : (tensor<4x8x3x4xf32, #experts>, tensor<4x4x6xf32, #w>, tensor<4x8xi32, #experts>) -> tensor<4x8x3x6xf32, #experts>
  %1 = dtc.expert_matmul %s, %wc, %n {group_rows = 4 : i64} : (tensor<4x8x3x4xf32, #experts>, tensor<4x4x6xf32, #wc>, tensor<4x8xi32, #experts>) -> tensor<4x8x3x6xf32, #expertsc>
  %2 = dtc.expert_matmul %sc, %wr, %n {group_rows = 4 : i64} : (tensor<4x8x3x4xf32, #expertsc>, tensor<4x4x6xf32, #wr>, tensor<4x8xi32, #experts>) -> tensor<4x8x3x6xf32, #expertsp>
  // The gradient of an expert is a sum over the ranks that have it.
  %3 = dtc.expert_outer %s, %y, %n {group_rows = 4 : i64} : (tensor<4x8x3x4xf32, #experts>, tensor<4x8x3x6xf32, #experts>, tensor<4x8xi32, #experts>) -> tensor<4x4x6xf32, #dw>
  return
}
