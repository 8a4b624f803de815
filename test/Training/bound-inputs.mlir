// RUN: dtc-opt %s --dtc-bound-inputs | FileCheck %s

// CHECK: func @step(%{{.*}}: tensor<8x16xi64> {dtc.bound = 100 : i64, dtc.input = "ids"}
// CHECK-SAME: tensor<128xi64> {dtc.bound = 10 : i64, dtc.ignore_index = -1 : i64, dtc.input = "labels"}
// CHECK-SAME: tensor<8xi64> {dtc.input = "weights"}
func.func @step(%i: tensor<8x16xi64> {dtc.input = "ids"},
                %t: tensor<128xi64> {dtc.input = "labels"},
                %u: tensor<8xi64> {dtc.input = "weights"},
                %large: tensor<256x4xf32> {dtc.parameter = "w"}, %small: tensor<100x4xf32> {dtc.parameter = "v"},
                %z: tensor<128x10xf32> {dtc.parameter = "z"}) {
  // The smaller of two tables bounds the input, also through a reshape.
  %0 = dtc.gather %large, %i : (tensor<256x4xf32>, tensor<8x16xi64>) -> tensor<8x16x4xf32>
  %1 = dtc.reshape %i : (tensor<8x16xi64>) -> tensor<128xi64>
  %2 = dtc.gather %small, %1 : (tensor<100x4xf32>, tensor<128xi64>) -> tensor<128x4xf32>
  %3 = dtc.cross_entropy %z, %t {ignore_index = -1 : i64} : (tensor<128x10xf32>, tensor<128xi64>) -> tensor<f64>
  return
}
