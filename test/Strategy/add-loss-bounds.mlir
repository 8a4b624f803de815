// RUN: dtc-opt %s --split-input-file --dtc-add-loss=ignore-index=-1 | FileCheck %s

// The smaller of two tables bounds the input, also through a reshape.

// CHECK: func @step(%{{.*}}: tensor<8x16xi64> {dtc.bound = array<i64: 100>, dtc.input = "ids", dtc.kind = "input"}
// CHECK-SAME: tensor<8xi64> {dtc.input = "weights", dtc.kind = "input"}
// CHECK-SAME: tensor<8x16xi64> {dtc.bound = array<i64: 10>, dtc.ignore_index = -1 : i64, dtc.input = "labels", dtc.kind = "label"}
func.func @forward(%i: tensor<8x16xi64> {dtc.input = "ids"}, %u: tensor<8xi64> {dtc.input = "weights"},
                   %large: tensor<256x10xf32> {dtc.parameter = "w"}, %small: tensor<100x10xf32> {dtc.parameter = "v"})
    -> (tensor<8x16x10xf32> {dtc.output = "y"}) {
  %0 = dtc.gather %large, %i : (tensor<256x10xf32>, tensor<8x16xi64>) -> tensor<8x16x10xf32>
  %1 = dtc.reshape %0 : (tensor<8x16x10xf32>) -> tensor<128x10xf32>
  %2 = dtc.reshape %i : (tensor<8x16xi64>) -> tensor<128xi64>
  %3 = dtc.gather %small, %2 : (tensor<100x10xf32>, tensor<128xi64>) -> tensor<128x10xf32>
  %4 = dtc.add %1, %3 : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
  %5 = dtc.reshape %4 : (tensor<128x10xf32>) -> tensor<8x16x10xf32>
  return %5 : tensor<8x16x10xf32>
}

// -----

// Columns have the bounds of their own tables; what nothing looks up has none.

// CHECK: func @step(%{{.*}}: tensor<8x4xi64> {dtc.bound = array<i64: 3, 0, 5, 7>, dtc.input = "columns", dtc.kind = "input"}
// CHECK-SAME: tensor<8x1xi64> {dtc.bound = array<i64: 3>, dtc.input = "rows", dtc.kind = "input"}
func.func @forward(%i: tensor<8x4xi64> {dtc.input = "columns"}, %j: tensor<8x1xi64> {dtc.input = "rows"},
                   %a: tensor<3x10xf32> {dtc.parameter = "a"}, %b: tensor<5x10xf32> {dtc.parameter = "b"},
                   %c: tensor<7x10xf32> {dtc.parameter = "c"}) -> (tensor<8x10xf32> {dtc.output = "y"}) {
  %0 = dtc.slice %i axis 1 from 0 : (tensor<8x4xi64>) -> tensor<8x1xi64>
  %1 = dtc.reshape %0 : (tensor<8x1xi64>) -> tensor<8xi64>
  %2 = dtc.gather %a, %1 : (tensor<3x10xf32>, tensor<8xi64>) -> tensor<8x10xf32>
  %3 = dtc.transpose %i [1, 0] : (tensor<8x4xi64>) -> tensor<4x8xi64>
  %4:3 = dtc.split %3 axis 0 : (tensor<4x8xi64>) -> (tensor<2x8xi64>, tensor<1x8xi64>, tensor<1x8xi64>)
  %5 = dtc.reshape %4#1 : (tensor<1x8xi64>) -> tensor<8xi64>
  %6 = dtc.gather %b, %5 : (tensor<5x10xf32>, tensor<8xi64>) -> tensor<8x10xf32>
  %7 = dtc.broadcast %4#2 : (tensor<1x8xi64>) -> tensor<2x8xi64>
  %8 = dtc.gather %c, %7 : (tensor<7x10xf32>, tensor<2x8xi64>) -> tensor<2x8x10xf32>
  %9 = dtc.slice %j axis 0 from 7 : (tensor<8x1xi64>) -> tensor<1x1xi64>
  %10 = dtc.gather %a, %9 : (tensor<3x10xf32>, tensor<1x1xi64>) -> tensor<1x1x10xf32>
  %11 = dtc.add %8, %10 : (tensor<2x8x10xf32>, tensor<1x1x10xf32>) -> tensor<2x8x10xf32>
  %sum = dtc.reduce_sum %11 axes [0] : (tensor<2x8x10xf32>) -> tensor<1x8x10xf32>
  %12 = dtc.reshape %sum : (tensor<1x8x10xf32>) -> tensor<8x10xf32>
  %13 = dtc.add %2, %6 : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
  %14 = dtc.add %13, %12 : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
  return %14 : tensor<8x10xf32>
}

// -----

// The number of experts bounds an input that chooses them.

// CHECK: func @step(%{{.*}}, %{{.*}}: tensor<8xi64> {dtc.bound = array<i64: 3>, dtc.input = "domain", dtc.kind = "input"}
func.func @forward(%x: tensor<8x4xf32> {dtc.input = "x"}, %i: tensor<8xi64> {dtc.input = "domain"},
                   %w: tensor<3x4x10xf32> {dtc.parameter = "w"}) -> (tensor<8x10xf32> {dtc.output = "y"}) {
  %0 = dtc.grouped_matmul %x, %w, %i : (tensor<8x4xf32>, tensor<3x4x10xf32>, tensor<8xi64>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}
