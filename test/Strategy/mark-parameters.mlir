// RUN: dtc-opt %s --dtc-mark-parameters="padding-idx=words*=1 no-decay=norms-and-biases,words lr-scale=pos*=0.5" | FileCheck %s
// RUN: not dtc-opt %s --dtc-mark-parameters="padding-idx=tokens=0" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dtc-opt %s --dtc-mark-parameters="padding-idx=words=5" 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: not dtc-opt %s --dtc-mark-parameters="padding-idx=words" 2>&1 | FileCheck %s --check-prefix=NUMBER

// CHECK: func.func @forward(%{{.+}} {dtc.no_decay, dtc.parameter = "words"}, %{{.+}} {dtc.lr_scale = 5.000000e-01 : f64, dtc.parameter = "positions"}, %{{.+}} {dtc.no_decay, dtc.parameter = "bias"}
// CHECK: dtc.gather %{{.+}}, %{{.+}} {dtc.padding = 1 : i64}
// CHECK-NEXT: dtc.gather %{{.+}}, %{{.+}} :
// NAME: error: no lookup table matches --padding-idx 'tokens=0'; the closest names are 'words', 'positions'
// ROW: error: --padding-idx 'words=5' names row 5 of 'words', expected 0 to 4
// NUMBER: error: --padding-idx is 'words', expected GLOB=N with the number of a row
func.func @forward(%t: tensor<5x4xf32> {dtc.parameter = "words"}, %p: tensor<5x4xf32> {dtc.parameter = "positions"},
                   %b: tensor<4xf32> {dtc.parameter = "bias"},
                   %i: tensor<2xi64> {dtc.input = "i"}) -> (tensor<2x4xf32> {dtc.output = "y"}) {
  %0 = dtc.gather %t, %i : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %1 = dtc.gather %p, %i : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %2 = dtc.add %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
