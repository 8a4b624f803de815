// RUN: dtc-opt --dtc-join-gradients %s | FileCheck %s
// RUN: dtc-opt --dtc-join-gradients=parts=2 %s | FileCheck %s --check-prefix=PARTS

// Ranges of one dimension, in whatever order they are added.
// CHECK-LABEL: func.func @pads
// CHECK-NEXT: %[[Y:.*]] = dtc.concat %arg0, %arg1, %arg2 axis 0
// CHECK-NEXT: return %[[Y]]
func.func @pads(%a: tensor<1x4xf32>, %b: tensor<2x4xf32>, %c: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %0 = dtc.pad %a axis 0 at 0 : (tensor<1x4xf32>) -> tensor<4x4xf32>
  %1 = dtc.pad %b axis 0 at 1 : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = dtc.pad %c axis 0 at 3 : (tensor<1x4xf32>) -> tensor<4x4xf32>
  %3 = dtc.add %2, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = dtc.add %3, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// With a gap, an overlap and another term.
// CHECK-LABEL: func.func @ranges
// CHECK-DAG: %[[L:.*]] = dtc.pad %arg1 axis 1 at 1
// CHECK-DAG: %[[C:.*]] = dtc.concat %arg2, %arg2 axis 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
// CHECK-DAG: %[[P:.*]] = dtc.pad %[[C]] axis 1 at 1 : (tensor<4x2xf32>) -> tensor<4x4xf32>
// CHECK: %[[S:.*]] = dtc.add %[[P]], %arg0
// CHECK: %[[T:.*]] = dtc.add %[[S]], %[[L]]
// CHECK: return %[[T]]
func.func @ranges(%x: tensor<4x4xf32>, %a: tensor<4x1xf32>, %b: tensor<4x1xf32>) -> tensor<4x4xf32> {
  %0 = dtc.pad %a axis 1 at 1 : (tensor<4x1xf32>) -> tensor<4x4xf32>
  %1 = dtc.pad %b axis 1 at 2 : (tensor<4x1xf32>) -> tensor<4x4xf32>
  %2 = dtc.pad %b axis 1 at 1 : (tensor<4x1xf32>) -> tensor<4x4xf32>
  %3 = dtc.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = dtc.add %3, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = dtc.add %4, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// A sum that something else reads too stays.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-2: dtc.pad
// CHECK-NOT: dtc.concat
func.func @read(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = dtc.pad %a axis 0 at 0 : (tensor<1x4xf32>) -> tensor<2x4xf32>
  %1 = dtc.pad %b axis 0 at 1 : (tensor<1x4xf32>) -> tensor<2x4xf32>
  %2 = dtc.add %0, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = dtc.add %2, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}

// The later position is added first, as a backward pass does.
// CHECK-LABEL: func.func @products
// CHECK-DAG: %[[A1:.*]] = dtc.reshape %arg0 : (tensor<4x64xf32>) -> tensor<1x4x64xf32>
// CHECK-DAG: %[[C1:.*]] = dtc.reshape %arg2 : (tensor<4x64xf32>) -> tensor<1x4x64xf32>
// CHECK-DAG: %[[AC:.*]] = dtc.concat %[[A1]], %[[C1]] axis 0
// CHECK-DAG: %[[L:.*]] = dtc.reshape %[[AC]] : (tensor<2x4x64xf32>) -> tensor<8x64xf32>
// CHECK-DAG: %[[B1:.*]] = dtc.reshape %arg1 : (tensor<4x32xf32>) -> tensor<1x4x32xf32>
// CHECK-DAG: %[[D1:.*]] = dtc.reshape %arg3 : (tensor<4x32xf32>) -> tensor<1x4x32xf32>
// CHECK-DAG: %[[BD:.*]] = dtc.concat %[[B1]], %[[D1]] axis 0
// CHECK-DAG: %[[R:.*]] = dtc.reshape %[[BD]] : (tensor<2x4x32xf32>) -> tensor<8x32xf32>
// CHECK: %[[W:.*]] = dtc.matmul %[[L]], %[[R]] {transpose_lhs} : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: return %[[W]]
func.func @products(%a: tensor<4x64xf32>, %b: tensor<4x32xf32>, %c: tensor<4x64xf32>, %d: tensor<4x32xf32>) -> tensor<64x32xf32> {
  %0 = dtc.matmul %c, %d {transpose_lhs} : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<64x32xf32>
  %1 = dtc.matmul %a, %b {transpose_lhs} : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<64x32xf32>
  %2 = dtc.add %0, %1 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// The kept values would exceed the result, except for half of the batch.
// PARTS-LABEL: func.func @layers
// PARTS: dtc.matmul {{.*}} {transpose_lhs} : (tensor<32x64xf32>, tensor<32x32xf32>)
// PARTS-NEXT: return
// CHECK-LABEL: func.func @layers
// CHECK-COUNT-2: dtc.matmul
// CHECK: dtc.add
func.func @layers(%a: tensor<16x64xf32>, %b: tensor<16x32xf32>, %c: tensor<16x64xf32>, %d: tensor<16x32xf32>) -> tensor<64x32xf32> {
  %0 = dtc.matmul %c, %d {transpose_lhs} : (tensor<16x64xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  %1 = dtc.matmul %a, %b {transpose_lhs} : (tensor<16x64xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  %2 = dtc.add %0, %1 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// The pass joins as many terms at a time as have the elements of the result: 2
// of (64 + 32) x 8 and one that is left. Terms without a transpose, and with a
// broadcast, are separate, after those that have the type of the sum.
// CHECK-LABEL: func.func @some
// CHECK: %[[LAST:.*]] = dtc.matmul %arg0, %arg1 {transpose_lhs} : (tensor<8x64xf32>, tensor<8x32xf32>)
// CHECK: %[[OTHER:.*]] = dtc.matmul %arg2, %arg3 : (tensor<64x8xf32>, tensor<8x32xf32>)
// CHECK: %[[TWO:.*]] = dtc.matmul %{{.*}}, %{{.*}} {transpose_lhs} : (tensor<16x64xf32>, tensor<16x32xf32>)
// CHECK: %[[S:.*]] = dtc.add %[[TWO]], %arg4
// CHECK: %[[T:.*]] = dtc.add %[[S]], %arg4
// CHECK: %[[U:.*]] = dtc.add %[[T]], %[[OTHER]]
// CHECK: %[[V:.*]] = dtc.add %[[U]], %[[LAST]]
// CHECK: return %[[V]]
func.func @some(%a: tensor<8x64xf32>, %b: tensor<8x32xf32>, %c: tensor<64x8xf32>, %d: tensor<8x32xf32>, %bias: tensor<32xf32>) -> tensor<64x32xf32> {
  %0 = dtc.matmul %a, %b {transpose_lhs} : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %1 = dtc.add %0, %bias : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
  %2 = dtc.add %1, %bias : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
  %3 = dtc.matmul %a, %b {transpose_lhs} : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %4 = dtc.add %2, %3 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %5 = dtc.matmul %c, %d : (tensor<64x8xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %6 = dtc.add %4, %5 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %7 = dtc.matmul %a, %b {transpose_lhs} : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %8 = dtc.add %6, %7 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %8 : tensor<64x32xf32>
}

// If the backward pass already reads a value as one, the product reads it
// there, for all positions: the output rows of a layer are its state, one
// position earlier, and the gradients of its inputs come from the last position
// on. The product is computed after both exist.
// CHECK-LABEL: func.func @wholes
// CHECK: %[[H:.*]] = dtc.concat %{{.*}}, %{{.*}}, %{{.*}} axis 0 : (tensor<1x1x64x8xf32>
// CHECK: %[[G:.*]] = dtc.concat %{{.*}}, %{{.*}}, %{{.*}} axis 0 : (tensor<1x64x4xf32>
// CHECK-NEXT: %[[GS:.*]] = dtc.slice %[[G]] axis 0 from 1 : (tensor<3x64x4xf32>) -> tensor<2x64x4xf32>
// CHECK-NEXT: %[[GR:.*]] = dtc.reshape %[[GS]] : (tensor<2x64x4xf32>) -> tensor<128x4xf32>
// CHECK-NEXT: %[[HS:.*]] = dtc.slice %[[H]] axis 0 from 0 : (tensor<3x1x64x8xf32>) -> tensor<2x1x64x8xf32>
// CHECK-NEXT: %[[HR:.*]] = dtc.reshape %[[HS]] : (tensor<2x1x64x8xf32>) -> tensor<128x8xf32>
// CHECK-NEXT: %[[W:.*]] = dtc.matmul %[[GR]], %[[HR]] {transpose_lhs} : (tensor<128x4xf32>, tensor<128x8xf32>) -> tensor<4x8xf32>
// CHECK: return %{{.*}}, %{{.*}}, %[[W]]
func.func @wholes(%x: tensor<192x5xf32>, %h0: tensor<64x8xf32>, %h1: tensor<64x8xf32>, %h2: tensor<64x8xf32>, %g0: tensor<64x4xf32>, %g1: tensor<64x4xf32>, %g2: tensor<64x4xf32>)
    -> (tensor<8x5xf32>, tensor<4x5xf32>, tensor<4x8xf32>) {
  %r0 = dtc.reshape %h0 : (tensor<64x8xf32>) -> tensor<1x1x64x8xf32>
  %r1 = dtc.reshape %h1 : (tensor<64x8xf32>) -> tensor<1x1x64x8xf32>
  %r2 = dtc.reshape %h2 : (tensor<64x8xf32>) -> tensor<1x1x64x8xf32>
  %h = dtc.concat %r0, %r1, %r2 axis 0 : (tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>) -> tensor<3x1x64x8xf32>
  %hr = dtc.reshape %h : (tensor<3x1x64x8xf32>) -> tensor<192x8xf32>
  %wh = dtc.matmul %hr, %x {transpose_lhs} : (tensor<192x8xf32>, tensor<192x5xf32>) -> tensor<8x5xf32>
  %w2 = dtc.matmul %g2, %h1 {transpose_lhs} : (tensor<64x4xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %s2 = dtc.reshape %g2 : (tensor<64x4xf32>) -> tensor<1x64x4xf32>
  %p2 = dtc.pad %s2 axis 0 at 2 : (tensor<1x64x4xf32>) -> tensor<3x64x4xf32>
  %w1 = dtc.matmul %g1, %h0 {transpose_lhs} : (tensor<64x4xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %w = dtc.add %w2, %w1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s1 = dtc.reshape %g1 : (tensor<64x4xf32>) -> tensor<1x64x4xf32>
  %p1 = dtc.pad %s1 axis 0 at 1 : (tensor<1x64x4xf32>) -> tensor<3x64x4xf32>
  %p21 = dtc.add %p2, %p1 : (tensor<3x64x4xf32>, tensor<3x64x4xf32>) -> tensor<3x64x4xf32>
  %s0 = dtc.reshape %g0 : (tensor<64x4xf32>) -> tensor<1x64x4xf32>
  %p0 = dtc.pad %s0 axis 0 at 0 : (tensor<1x64x4xf32>) -> tensor<3x64x4xf32>
  %g = dtc.add %p21, %p0 : (tensor<3x64x4xf32>, tensor<3x64x4xf32>) -> tensor<3x64x4xf32>
  %gr = dtc.reshape %g : (tensor<3x64x4xf32>) -> tensor<192x4xf32>
  %wg = dtc.matmul %gr, %x {transpose_lhs} : (tensor<192x4xf32>, tensor<192x5xf32>) -> tensor<4x5xf32>
  return %wh, %wg, %w : tensor<8x5xf32>, tensor<4x5xf32>, tensor<4x8xf32>
}

// A layer that runs from the last position on reads the state one later.
// CHECK-LABEL: func.func @backwards
// CHECK: dtc.slice %{{.*}} axis 0 from 0 : (tensor<2x64x4xf32>) -> tensor<2x64x4xf32>
// CHECK: dtc.slice %{{.*}} axis 0 from 1 : (tensor<3x64x8xf32>) -> tensor<2x64x8xf32>
// CHECK-NOT: dtc.add
func.func @backwards(%x: tensor<192x5xf32>, %y: tensor<128x5xf32>, %h0: tensor<1x64x8xf32>, %h1: tensor<1x64x8xf32>, %h2: tensor<1x64x8xf32>, %g0: tensor<1x64x4xf32>, %g1: tensor<1x64x4xf32>)
    -> (tensor<8x5xf32>, tensor<4x5xf32>, tensor<4x8xf32>) {
  %h = dtc.concat %h0, %h1, %h2 axis 0 : (tensor<1x64x8xf32>, tensor<1x64x8xf32>, tensor<1x64x8xf32>) -> tensor<3x64x8xf32>
  %g = dtc.concat %g0, %g1 axis 0 : (tensor<1x64x4xf32>, tensor<1x64x4xf32>) -> tensor<2x64x4xf32>
  %hr = dtc.reshape %h : (tensor<3x64x8xf32>) -> tensor<192x8xf32>
  %gr = dtc.reshape %g : (tensor<2x64x4xf32>) -> tensor<128x4xf32>
  %wh = dtc.matmul %hr, %x {transpose_lhs} : (tensor<192x8xf32>, tensor<192x5xf32>) -> tensor<8x5xf32>
  %wg = dtc.matmul %gr, %y {transpose_lhs} : (tensor<128x4xf32>, tensor<128x5xf32>) -> tensor<4x5xf32>
  %a0 = dtc.reshape %g0 : (tensor<1x64x4xf32>) -> tensor<64x4xf32>
  %a1 = dtc.reshape %g1 : (tensor<1x64x4xf32>) -> tensor<64x4xf32>
  %b1 = dtc.reshape %h1 : (tensor<1x64x8xf32>) -> tensor<64x8xf32>
  %b2 = dtc.reshape %h2 : (tensor<1x64x8xf32>) -> tensor<64x8xf32>
  %w0 = dtc.matmul %a0, %b1 {transpose_lhs} : (tensor<64x4xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %w1 = dtc.matmul %a1, %b2 {transpose_lhs} : (tensor<64x4xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %w = dtc.add %w0, %w1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %wh, %wg, %w : tensor<8x5xf32>, tensor<4x5xf32>, tensor<4x8xf32>
}

// One whole operand needs no copy, so the pass joins more terms: 2 of 16 x 8
// elements, where 16 x (8 + 32) are more than half of the result's.
// CHECK-LABEL: func.func @half
// CHECK: %[[H:.*]] = dtc.concat %arg3, %arg4, %arg5 axis 0
// CHECK: dtc.concat %{{.*}}, %{{.*}} axis 0 : (tensor<1x16x8xf32>
// CHECK: dtc.slice %[[H]] axis 0 from 1
// CHECK-NOT: dtc.add
func.func @half(%x: tensor<48x5xf32>, %a: tensor<16x8xf32>, %b: tensor<16x8xf32>, %h0: tensor<1x16x32xf32>, %h1: tensor<1x16x32xf32>, %h2: tensor<1x16x32xf32>)
    -> (tensor<32x5xf32>, tensor<8x32xf32>) {
  %h = dtc.concat %h0, %h1, %h2 axis 0 : (tensor<1x16x32xf32>, tensor<1x16x32xf32>, tensor<1x16x32xf32>) -> tensor<3x16x32xf32>
  %hr = dtc.reshape %h : (tensor<3x16x32xf32>) -> tensor<48x32xf32>
  %wh = dtc.matmul %hr, %x {transpose_lhs} : (tensor<48x32xf32>, tensor<48x5xf32>) -> tensor<32x5xf32>
  %r1 = dtc.reshape %h1 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
  %r2 = dtc.reshape %h2 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
  %0 = dtc.matmul %b, %r2 {transpose_lhs} : (tensor<16x8xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = dtc.matmul %a, %r1 {transpose_lhs} : (tensor<16x8xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %2 = dtc.add %0, %1 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  return %wh, %2 : tensor<32x5xf32>, tensor<8x32xf32>
}

// Not where another value is in between, nor of what the backward pass does not
// read, nor where what reads the sum comes first.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: dtc.slice
// CHECK: return
func.func @apart(%x: tensor<12x5xf32>, %y: tensor<8x5xf32>, %a: tensor<4x64xf32>, %b: tensor<4x64xf32>, %c: tensor<1x4x64xf32>, %d: tensor<1x4x64xf32>, %e: tensor<1x4x64xf32>)
    -> (tensor<64x5xf32>, tensor<64x5xf32>, tensor<64x64xf32>, tensor<2x4x64xf32>) {
  %mixed = dtc.concat %c, %e, %d axis 0 : (tensor<1x4x64xf32>, tensor<1x4x64xf32>, tensor<1x4x64xf32>) -> tensor<3x4x64xf32>
  %mr = dtc.reshape %mixed : (tensor<3x4x64xf32>) -> tensor<12x64xf32>
  %wm = dtc.matmul %mr, %x {transpose_lhs} : (tensor<12x64xf32>, tensor<12x5xf32>) -> tensor<64x5xf32>
  %unread = dtc.concat %c, %d axis 0 : (tensor<1x4x64xf32>, tensor<1x4x64xf32>) -> tensor<2x4x64xf32>
  %rc = dtc.reshape %c : (tensor<1x4x64xf32>) -> tensor<4x64xf32>
  %rd = dtc.reshape %d : (tensor<1x4x64xf32>) -> tensor<4x64xf32>
  %0 = dtc.matmul %b, %rd {transpose_lhs} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %1 = dtc.matmul %a, %rc {transpose_lhs} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %2 = dtc.add %0, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = dtc.tanh %2 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %late = dtc.concat %c, %d axis 0 : (tensor<1x4x64xf32>, tensor<1x4x64xf32>) -> tensor<2x4x64xf32>
  %lr = dtc.reshape %late : (tensor<2x4x64xf32>) -> tensor<8x64xf32>
  %wl = dtc.matmul %lr, %y {transpose_lhs} : (tensor<8x64xf32>, tensor<8x5xf32>) -> tensor<64x5xf32>
  return %wm, %wl, %3, %unread : tensor<64x5xf32>, tensor<64x5xf32>, tensor<64x64xf32>, tensor<2x4x64xf32>
}
