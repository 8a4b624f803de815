// RUN: dtc-opt %s --dtc-expand-training-ops | FileCheck %s

// CHECK-LABEL: @step
// CHECK-SAME: (%[[X:[^:]+]]: tensor<8x4xf32> {{.+}}, %[[SEED:[^:]+]]: tensor<i64> {{.+}}, %[[STEP:[^:]+]]: tensor<f64>
// CHECK: %[[U:.+]] = dtc.random_uniform %{{.+}}, %[[STEP]] {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<8x4xf32>
// CHECK: %[[P:.+]] = dtc.constant dense<2.000000e-01> : tensor<f32>
// CHECK: %[[KEEP:.+]] = dtc.compare ge %[[U]], %[[P]]
// CHECK: %[[SCALE:.+]] = dtc.constant dense<1.250000e+00>
// CHECK: %[[S:.+]] = dtc.mul %[[X]], %[[SCALE]]
// CHECK: %[[Z:.+]] = dtc.constant dense<0.000000e+00>
// CHECK: %[[Y:.+]] = dtc.select %[[KEEP]], %[[S]], %[[Z]]
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x"}, %seed: tensor<i64> {dtc.input = "seed"}, %step: tensor<f64> {dtc.input = "step"})
    -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "mean"}) {
  %0 = dtc.dropout %x, %seed, %step {id = 3 : i64, probability = 2.0e-1 : f64} : (tensor<8x4xf32>, tensor<i64>, tensor<f64>) -> tensor<8x4xf32>
  %1 = dtc.sum_squares %0 : (tensor<8x4xf32>) -> tensor<f64>

// A number that is repeated, such as the mean of a Bernoulli variable, is one.
// CHECK: %[[HALF:.+]] = dtc.constant dense<5.000000e-01> : tensor<f32>
// CHECK: dtc.mul %[[HALF]], %{{.+}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK: dtc.select %{{.+}} : (tensor<8x1xi1>, tensor<f32>, tensor<f32>) -> tensor<8x1xf32>
  %half = dtc.constant dense<5.0e-1> : tensor<f32> to tensor<f32>
  %2 = dtc.broadcast %half : (tensor<f32>) -> tensor<8x1xf32>
  %3 = dtc.dropout %2, %seed, %step {id = 4 : i64, probability = 5.0e-1 : f64} : (tensor<8x1xf32>, tensor<i64>, tensor<f64>) -> tensor<8x1xf32>
  %4 = dtc.sum_squares %3 : (tensor<8x1xf32>) -> tensor<f64>
  return %1, %4 : tensor<f64>, tensor<f64>
}
