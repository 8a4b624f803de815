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
#b1 = #dtc.layout<#mesh, mb: split(1), dp: split(1)>
#b5 = #dtc.layout<#mesh, mb: split(0 in 5), dp: split(0)>

#unit = #dtc.mesh<dp=2, mb=1>
#u = #dtc.layout<#unit, dp: split(1)>
#u0 = #dtc.layout<#unit, mb: split(0), dp: split(1)>
#u1 = #dtc.layout<#unit, mb: split(1), dp: split(1)>
#ue = #dtc.layout<#unit, mb: each, dp: split(1)>
#up = #dtc.layout<#unit, dp: split(1), mb: partial>
#us = #dtc.layout<#unit, mb: each, dp: partial>

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

// The batch is minor in a joined dimension: each of 5 pieces is split, however
// it is taken apart. A contraction over it is a sum all the same.
// CHECK-LABEL: func @pieces
func.func @pieces(%x: tensor<5x8x16xf32, #b1>, %w: tensor<16x4xf32, #r>) {
  %0 = dtc.reshape %x : (tensor<5x8x16xf32, #b1>) -> tensor<40x16xf32, #b5>
  %1 = dtc.matmul %0, %w : (tensor<40x16xf32, #b5>, tensor<16x4xf32, #r>) -> tensor<40x4xf32, #b5>
  %2 = dtc.reshape %1 : (tensor<40x4xf32, #b5>) -> tensor<5x32xf32, #b1>
  %3 = dtc.matmul %0, %1 {transpose_lhs} : (tensor<40x16xf32, #b5>, tensor<40x4xf32, #b5>) -> tensor<16x4xf32, #pb>
  %4 = dtc.reshape %0 : (tensor<40x16xf32, #b5>) -> tensor<5x2x64xf32, #dtc.layout<#mesh, mb: split(1), dp: split(2)>>
  %5 = dtc.reshape %0 : (tensor<40x16xf32, #b5>) -> tensor<640xf32, #b5>
  return
}

// An axis of size 1 constrains nothing: what depends on the position on it does
// so along any dimension or none, or is a part of a sum.
// CHECK-LABEL: func @unit
func.func @unit(%0: tensor<8x4xf32, #u0>, %1: tensor<8x4xf32, #u1>, %e: tensor<8x4xf32, #ue>, %r: tensor<8x4xf32, #u>) {
  %2 = dtc.add %0, %1 : (tensor<8x4xf32, #u0>, tensor<8x4xf32, #u1>) -> tensor<8x4xf32, #ue>
  %3 = dtc.add %0, %r : (tensor<8x4xf32, #u0>, tensor<8x4xf32, #u>) -> tensor<8x4xf32, #u0>
  %4 = dtc.add %e, %r : (tensor<8x4xf32, #ue>, tensor<8x4xf32, #u>) -> tensor<8x4xf32, #ue>
  %5 = dtc.reduce_sum %0 axes [0] : (tensor<8x4xf32, #u0>) -> tensor<1x4xf32, #up>
  %6 = dtc.exp %5 : (tensor<1x4xf32, #up>) -> tensor<1x4xf32, #ue>
  %7 = dtc.reduce_max %0 axes [0] : (tensor<8x4xf32, #u0>) -> tensor<1x4xf32, #ue>
  %8 = dtc.slice %0 axis 0 from 4 : (tensor<8x4xf32, #u0>) -> tensor<4x4xf32, #ue>
  %9 = dtc.sum_squares %e : (tensor<8x4xf32, #ue>) -> tensor<f64, #us>
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
func.func @reductions(%x: tensor<8x4xf32, #dt>, %i: tensor<8xi64, #b>, %table: tensor<16x4xf32, #r>, %z: tensor<8x4xf32, #b>, %g: tensor<f64, #r>, %of_each: tensor<8x16x4xf32, #b>, %rows: tensor<8x3xi64, #b>) {
  %0 = dtc.reduce_sum %x axes [1] : (tensor<8x4xf32, #dt>) -> tensor<8x1xf32, #dpt>
  %1 = dtc.reduce_max %x axes [0, 1] : (tensor<8x4xf32, #dt>) -> tensor<1x1xf32, #dtc.layout<#mesh, dp: partial(max), tp: partial(max)>>
  %2 = dtc.gather %table, %i : (tensor<16x4xf32, #r>, tensor<8xi64, #b>) -> tensor<8x4xf32, #b>
  %3 = dtc.scatter_add %i, %2 : (tensor<8xi64, #b>, tensor<8x4xf32, #b>) -> tensor<16x4xf32, #pb>
  %gb = dtc.gather %of_each, %rows {batch_dims = 1 : i64} : (tensor<8x16x4xf32, #b>, tensor<8x3xi64, #b>) -> tensor<8x3x4xf32, #b>
  %sb = dtc.scatter_add %rows, %gb {batch_dims = 1 : i64} : (tensor<8x3xi64, #b>, tensor<8x3x4xf32, #b>) -> tensor<8x16x4xf32, #b>
  %4 = dtc.cross_entropy %z, %i : (tensor<8x4xf32, #b>, tensor<8xi64, #b>) -> tensor<f64, #pb>
  %5 = dtc.cross_entropy_grad %z, %i, %g : (tensor<8x4xf32, #b>, tensor<8xi64, #b>, tensor<f64, #r>) -> tensor<8x4xf32, #b>
  return
}

#c = #dtc.layout<#mesh, dp: split(0), tp: split(3)>
#wc = #dtc.layout<#mesh, tp: split(3)>
#bc = #dtc.layout<#mesh, mb: split(0), dp: split(0), tp: split(3)>
#pbf = #dtc.layout<#mesh, dp: partial, mb: partial, tp: split(0)>
#pbc = #dtc.layout<#mesh, dp: partial, mb: partial, tp: split(3)>

// CHECK-LABEL: func @convolutions
func.func @convolutions(%x: tensor<8x6x5x4xf32, #d>, %xc: tensor<8x6x5x4xf32, #c>, %w: tensor<6x3x3x4xf32, #r>, %wf: tensor<6x3x3x4xf32, #t0>, %wc: tensor<6x3x3x4xf32, #wc>,
                        %y: tensor<8x4x3x6xf32, #d>, %yf: tensor<8x4x3x6xf32, #c>, %wp: tensor<6x3x3x4xf32, #pt>) {
  // By the batch; by filters; by channels, which are summed.
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #d>, tensor<6x3x3x4xf32, #r>) -> tensor<8x4x3x6xf32, #d>
  %1 = dtc.conv2d %x, %wf strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #d>, tensor<6x3x3x4xf32, #t0>) -> tensor<8x4x3x6xf32, #c>
  %2 = dtc.conv2d %xc, %wc strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #c>, tensor<6x3x3x4xf32, #wc>) -> tensor<8x4x3x6xf32, #dpt>
  // The gradient by images sums over the filters.
  %3 = dtc.conv2d_input_grad %y, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x4x3x6xf32, #d>, tensor<6x3x3x4xf32, #r>) -> tensor<8x6x5x4xf32, #d>
  %4 = dtc.conv2d_input_grad %yf, %wf strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x4x3x6xf32, #c>, tensor<6x3x3x4xf32, #t0>) -> tensor<8x6x5x4xf32, #dpt>
  %5 = dtc.conv2d_input_grad %y, %wc strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x4x3x6xf32, #d>, tensor<6x3x3x4xf32, #wc>) -> tensor<8x6x5x4xf32, #c>
  // Linear in each operand.
  %6 = dtc.conv2d %x, %wp strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #d>, tensor<6x3x3x4xf32, #pt>) -> tensor<8x4x3x6xf32, #dpt>
  return
}

// CHECK-LABEL: func @filter_gradients
func.func @filter_gradients(%x: tensor<8x6x5x4xf32, #b>, %y: tensor<8x4x3x6xf32, #b>, %xc: tensor<8x6x5x4xf32, #bc>, %yf: tensor<8x4x3x6xf32, #bc>) {
  // The batch is summed.
  %0 = dtc.conv2d_filter_grad %x, %y strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #b>, tensor<8x4x3x6xf32, #b>) -> tensor<6x3x3x4xf32, #pb>
  %1 = dtc.conv2d_filter_grad %x, %yf strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #b>, tensor<8x4x3x6xf32, #bc>) -> tensor<6x3x3x4xf32, #pbf>
  %2 = dtc.conv2d_filter_grad %xc, %y strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #bc>, tensor<8x4x3x6xf32, #b>) -> tensor<6x3x3x4xf32, #pbc>
  return
}

// Channels and filters split into the same groups: nothing is summed.
// CHECK-LABEL: func @groups
func.func @groups(%x: tensor<8x6x5x4xf32, #bc>, %w: tensor<6x3x3x2xf32, #t0>, %y: tensor<8x4x3x6xf32, #bc>) {
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #bc>, tensor<6x3x3x2xf32, #t0>) -> tensor<8x4x3x6xf32, #bc>
  %1 = dtc.conv2d_input_grad %y, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x4x3x6xf32, #bc>, tensor<6x3x3x2xf32, #t0>) -> tensor<8x6x5x4xf32, #bc>
  %2 = dtc.conv2d_filter_grad %x, %y strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x5x4xf32, #bc>, tensor<8x4x3x6xf32, #bc>) -> tensor<6x3x3x2xf32, #pbf>
  return
}

// CHECK-LABEL: func @poolings
func.func @poolings(%x: tensor<8x6x4x4xf32, #c>, %y: tensor<8x3x2x4xf32, #c>, %xp: tensor<8x6x4x4xf32, #dpt>, %yp: tensor<8x3x2x4xf32, #dpt>, %xd: tensor<8x6x4x4xf32, #d>) {
  %0 = dtc.max_pool2d %x kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x4x4xf32, #c>) -> tensor<8x3x2x4xf32, #c>
  %1 = dtc.max_pool2d_grad %x, %y kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x4x4xf32, #c>, tensor<8x3x2x4xf32, #c>) -> tensor<8x6x4x4xf32, #c>
  %2 = dtc.sum_pool2d %x kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x4x4xf32, #c>) -> tensor<8x3x2x4xf32, #c>
  %3 = dtc.sum_pool2d_grad %y kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x3x2x4xf32, #c>) -> tensor<8x6x4x4xf32, #c>
  // Sums and gradients are linear.
  %4 = dtc.sum_pool2d %xp kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x4x4xf32, #dpt>) -> tensor<8x3x2x4xf32, #dpt>
  %5 = dtc.sum_pool2d_grad %yp kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x3x2x4xf32, #dpt>) -> tensor<8x6x4x4xf32, #dpt>
  %6 = dtc.max_pool2d_grad %xd, %yp kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x6x4x4xf32, #d>, tensor<8x3x2x4xf32, #dpt>) -> tensor<8x6x4x4xf32, #dpt>
  return
}
