// The sharding rule of each family, checked by the verifier of every op.
// RUN: dtc-opt %s --verify-roundtrip | FileCheck %s

#mesh = #dtc.mesh<dp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#d = #dtc.layout<#mesh, dp: split(0)>
#d1 = #dtc.layout<#mesh, dp: split(1)>
#t0 = #dtc.layout<#mesh, tp: split(0)>
#t1 = #dtc.layout<#mesh, tp: split(1)>
#dt = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
#t2 = #dtc.layout<#mesh, dp: split(0), tp: split(2)>
#pt = #dtc.layout<#mesh, tp: partial>
#dpt = #dtc.layout<#mesh, dp: split(0), tp: partial>
#pb = #dtc.layout<#mesh, dp: partial, mb: partial>
#pd = #dtc.layout<#mesh, dp: partial>
#pm = #dtc.layout<#mesh, tp: partial(max)>

// CHECK-LABEL: func @matmul
func.func @matmul(%x: tensor<8x16xf32, #d>, %w: tensor<16x4xf32, #t1>, %v: tensor<4x16xf32, #t0>,
                  %xb: tensor<8x16xf32, #b>, %pw: tensor<16x4xf32, #pt>) {
  // Column parallel, then row parallel: the contraction leaves a partial sum.
  %0 = dtc.matmul %x, %w : (tensor<8x16xf32, #d>, tensor<16x4xf32, #t1>) -> tensor<8x4xf32, #dt>
  %1 = dtc.matmul %0, %v : (tensor<8x4xf32, #dt>, tensor<4x16xf32, #t0>) -> tensor<8x16xf32, #dpt>
  // A weight's gradient contracts over the batch.
  %2 = dtc.matmul %xb, %xb {transpose_lhs} : (tensor<8x16xf32, #b>, tensor<8x16xf32, #b>) -> tensor<16x16xf32, #pb>
  // Linear in each operand.
  %3 = dtc.matmul %x, %pw : (tensor<8x16xf32, #d>, tensor<16x4xf32, #pt>) -> tensor<8x4xf32, #dpt>
  return
}

// CHECK-LABEL: func @elementwise
func.func @elementwise(%x: tensor<8x4xf32, #dt>, %row: tensor<4xf32, #t0>, %p: tensor<8x4xf32, #dpt>, %n: tensor<f32, #r>) {
  %0 = dtc.add %x, %row : (tensor<8x4xf32, #dt>, tensor<4xf32, #t0>) -> tensor<8x4xf32, #dt>
  %1 = dtc.add %p, %p : (tensor<8x4xf32, #dpt>, tensor<8x4xf32, #dpt>) -> tensor<8x4xf32, #dpt>
  %2 = dtc.mul %p, %n : (tensor<8x4xf32, #dpt>, tensor<f32, #r>) -> tensor<8x4xf32, #dpt>
  %3 = dtc.div %p, %n : (tensor<8x4xf32, #dpt>, tensor<f32, #r>) -> tensor<8x4xf32, #dpt>
  return
}

// CHECK-LABEL: func @shape
func.func @shape(%x: tensor<8x16x6xf32, #t2>, %y: tensor<8x16x6xf32, #d>) {
  // Only the major factor of a joined dimension may be split ...
  %0 = dtc.reshape %y : (tensor<8x16x6xf32, #d>) -> tensor<128x6xf32, #d>
  // ... and a split of it stays with the major factor when it is taken apart.
  %1 = dtc.reshape %0 : (tensor<128x6xf32, #d>) -> tensor<8x16x2x3xf32, #d>
  %2 = dtc.transpose %y [1, 0, 2] : (tensor<8x16x6xf32, #d>) -> tensor<16x8x6xf32, #d1>
  %3 = dtc.slice %y axis 2 from 1 : (tensor<8x16x6xf32, #d>) -> tensor<8x16x4xf32, #d>
  %4, %5 = dtc.split %y axis 1 : (tensor<8x16x6xf32, #d>) -> (tensor<8x4x6xf32, #d>, tensor<8x12x6xf32, #d>)
  return
}

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<8x4xf32, #dt>, %i: tensor<8xi64, #b>, %table: tensor<16x4xf32, #r>, %z: tensor<8x4xf32, #b>, %g: tensor<f64, #r>) {
  %0 = dtc.reduce_sum %x axes [1] : (tensor<8x4xf32, #dt>) -> tensor<8x1xf32, #dpt>
  %1 = dtc.reduce_max %x axes [0, 1] : (tensor<8x4xf32, #dt>) -> tensor<1x1xf32, #dtc.layout<#mesh, dp: partial(max), tp: partial(max)>>
  %2 = dtc.gather %table, %i : (tensor<16x4xf32, #r>, tensor<8xi64, #b>) -> tensor<8x4xf32, #b>
  %3 = dtc.scatter_add %i, %2 : (tensor<8xi64, #b>, tensor<8x4xf32, #b>) -> tensor<16x4xf32, #pb>
  %4 = dtc.cross_entropy %z, %i : (tensor<8x4xf32, #b>, tensor<8xi64, #b>) -> tensor<f64, #pb>
  %5 = dtc.cross_entropy_grad %z, %i, %g : (tensor<8x4xf32, #b>, tensor<8xi64, #b>, tensor<f64, #r>) -> tensor<8x4xf32, #b>
  return
}
