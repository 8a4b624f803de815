// RUN: dtc-opt %s --dtc-repeat-key-heads=tp=4 --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-repeat-key-heads=tp=2 --split-input-file | FileCheck %s --check-prefix=DIVIDES

// Rows of the weight and of the bias are repeated by heads, and what is made of
// them has four heads. Queries stay.
// CHECK-LABEL: func @forward
// CHECK-SAME: %[[Q:.*]]: tensor<2x6x8x2xf32> {dtc.input = "q"}, %[[X:.*]]: tensor<12x3xf32>
// CHECK-SAME: %[[W:.*]]: tensor<4x3xf32> {dtc.parameter = "k"}
// CHECK-SAME: %[[B:.*]]: tensor<4xf32> {dtc.parameter = "b"}
// CHECK-DAG: dtc.constant {dtc.split_dims = {tp = 0 : i64}} dense<[0, 1, 0, 1, 2, 3, 2, 3]>
// CHECK-DAG: %[[W4:.*]] = dtc.gather %[[W]], %{{.*}} : (tensor<4x3xf32>, tensor<8xi64>) -> tensor<8x3xf32>
// CHECK-DAG: %[[B4:.*]] = dtc.gather %[[B]], {{.*}} : (tensor<4xf32>, tensor<8xi64>) -> tensor<8xf32>
// CHECK: %[[P:.*]] = dtc.matmul %[[X]], %[[W4]] {transpose_rhs} : (tensor<12x3xf32>, tensor<8x3xf32>) -> tensor<12x8xf32>
// CHECK: %[[S:.*]] = dtc.add %[[P]], %[[B4]] : (tensor<12x8xf32>, tensor<8xf32>) -> tensor<12x8xf32>
// CHECK: %[[K:.*]] = dtc.reshape %[[S]] : (tensor<12x8xf32>) -> tensor<2x6x4x2xf32>
// CHECK: dtc.attention %[[Q]], %[[K]], %[[K]]
// DIVIDES-LABEL: func @forward
// DIVIDES-NOT: dtc.gather
// DIVIDES: dtc.attention {{.*}} (tensor<2x6x8x2xf32>, tensor<2x6x2x2xf32>, tensor<2x6x2x2xf32>)
func.func @forward(%q: tensor<2x6x8x2xf32> {dtc.input = "q"}, %x: tensor<12x3xf32> {dtc.input = "x"},
                   %w: tensor<4x3xf32> {dtc.parameter = "k"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> tensor<2x6x8x2xf32> {
  %0 = dtc.matmul %x, %w {transpose_rhs} : (tensor<12x3xf32>, tensor<4x3xf32>) -> tensor<12x4xf32>
  %1 = dtc.add %0, %b : (tensor<12x4xf32>, tensor<4xf32>) -> tensor<12x4xf32>
  %2 = dtc.reshape %1 : (tensor<12x4xf32>) -> tensor<2x6x2x2xf32>
  %3, %lse = dtc.attention %q, %2, %2 {scale = 1.0 : f64} : (tensor<2x6x8x2xf32>, tensor<2x6x2x2xf32>, tensor<2x6x2x2xf32>) -> (tensor<2x6x8x2xf32>, tensor<2x8x6xf32>)
  return %3 : tensor<2x6x8x2xf32>
}

// -----

// A single head of keys and values is repeated where it is.
// CHECK-LABEL: func @single
// CHECK: %[[K:.*]] = dtc.reshape {{.*}} -> tensor<2x6x1x2xf32>
// CHECK: %[[K4:.*]] = dtc.broadcast %[[K]] {dtc.split_dims = {tp = 2 : i64}} : (tensor<2x6x1x2xf32>) -> tensor<2x6x4x2xf32>
// CHECK: dtc.attention {{.*}}, %[[K4]], %[[K4]]
func.func @single(%x: tensor<12x3xf32> {dtc.input = "x"}, %wq: tensor<8x3xf32> {dtc.parameter = "q"},
                  %w: tensor<2x3xf32> {dtc.parameter = "k"}, %o: tensor<8x5xf32> {dtc.parameter = "o"}) -> tensor<12x5xf32> {
  %q = dtc.matmul %x, %wq {transpose_rhs} : (tensor<12x3xf32>, tensor<8x3xf32>) -> tensor<12x8xf32>
  %h = dtc.reshape %q : (tensor<12x8xf32>) -> tensor<2x6x4x2xf32>
  %0 = dtc.matmul %x, %w {transpose_rhs} : (tensor<12x3xf32>, tensor<2x3xf32>) -> tensor<12x2xf32>
  %k = dtc.reshape %0 : (tensor<12x2xf32>) -> tensor<2x6x1x2xf32>
  %a, %lse = dtc.attention %h, %k, %k {scale = 1.0 : f64} : (tensor<2x6x4x2xf32>, tensor<2x6x1x2xf32>, tensor<2x6x1x2xf32>) -> (tensor<2x6x4x2xf32>, tensor<2x4x6xf32>)
  %r = dtc.reshape %a : (tensor<2x6x4x2xf32>) -> tensor<12x8xf32>
  %y = dtc.matmul %r, %o : (tensor<12x8xf32>, tensor<8x5xf32>) -> tensor<12x5xf32>
  return %y : tensor<12x5xf32>
}

// -----

// A norm of each head and a rotation in halves are of all heads alike, and are
// left behind. Columns of a weight are its rows, transposed.
// CHECK-LABEL: func @rotated
// CHECK: %[[T:.*]] = dtc.transpose %{{.*}} [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
// CHECK: %[[G:.*]] = dtc.gather %[[T]], {{.*}} -> tensor<8x3xf32>
// CHECK: dtc.transpose %[[G]] [1, 0] : (tensor<8x3xf32>) -> tensor<3x8xf32>
// CHECK: dtc.reduce_sum {{.*}} axes [3] : (tensor<2x6x4x2xf32>) -> tensor<2x6x4x1xf32>
// CHECK: dtc.slice {{.*}} axis 3 from 1 : (tensor<2x6x4x2xf32>) -> tensor<2x6x4x1xf32>
// CHECK: dtc.concat {{.*}} axis 3 : (tensor<2x6x4x1xf32>, tensor<2x6x4x1xf32>) -> tensor<2x6x4x2xf32>
// CHECK-NOT: tensor<2x6x2x2xf32>
// CHECK: return
func.func @rotated(%q: tensor<2x6x4x2xf32> {dtc.input = "q"}, %x: tensor<12x3xf32> {dtc.input = "x"},
                   %w: tensor<3x4xf32> {dtc.parameter = "k"}) -> tensor<2x6x4x2xf32> {
  %0 = dtc.matmul %x, %w : (tensor<12x3xf32>, tensor<3x4xf32>) -> tensor<12x4xf32>
  %1 = dtc.reshape %0 : (tensor<12x4xf32>) -> tensor<2x6x2x2xf32>
  %2 = dtc.reduce_sum %1 axes [3] : (tensor<2x6x2x2xf32>) -> tensor<2x6x2x1xf32>
  %3 = dtc.div %1, %2 : (tensor<2x6x2x2xf32>, tensor<2x6x2x1xf32>) -> tensor<2x6x2x2xf32>
  %4 = dtc.slice %3 axis 3 from 0 : (tensor<2x6x2x2xf32>) -> tensor<2x6x2x1xf32>
  %5 = dtc.slice %3 axis 3 from 1 : (tensor<2x6x2x2xf32>) -> tensor<2x6x2x1xf32>
  %6 = dtc.neg %5 : (tensor<2x6x2x1xf32>) -> tensor<2x6x2x1xf32>
  %k = dtc.concat %6, %4 axis 3 : (tensor<2x6x2x1xf32>, tensor<2x6x2x1xf32>) -> tensor<2x6x2x2xf32>
  %a, %lse = dtc.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x6x4x2xf32>, tensor<2x6x2x2xf32>, tensor<2x6x2x2xf32>) -> (tensor<2x6x4x2xf32>, tensor<2x4x6xf32>)
  return %a : tensor<2x6x4x2xf32>
}
