// RUN: dtc-opt %s --dtc-add-loss=ignore-index=-1 | FileCheck %s

// The smaller of two tables bounds the input, also through a reshape.

// CHECK: func @step(%{{.*}}: tensor<8x16xi64> {dtc.bound = 100 : i64, dtc.input = "ids", dtc.kind = "input"}
// CHECK-SAME: tensor<8xi64> {dtc.input = "weights", dtc.kind = "input"}
// CHECK-SAME: tensor<8x16xi64> {dtc.bound = 10 : i64, dtc.ignore_index = -1 : i64, dtc.input = "labels", dtc.kind = "label"}
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
