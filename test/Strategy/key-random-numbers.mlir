// RUN: dtc-opt %s --dtc-expand-training-ops | FileCheck %s

// CHECK-LABEL: @step
// CHECK-SAME: (%[[SEED:[^:]+]]: tensor<i64> {{.+}}, %[[STEP:[^:]+]]: tensor<f64>
// CHECK: %[[D:.+]] = dtc.constant dense<[0, -7046029254386353131]> : tensor<2xi64>
// CHECK: %[[T:.+]] = dtc.add %[[SEED]], %[[D]] : (tensor<i64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK: %[[S0:.+]] = dtc.slice %[[T]] axis 0 from 0 {view} : (tensor<2xi64>) -> tensor<1xi64>
// CHECK: %[[K0:.+]] = dtc.reshape %[[S0]] : (tensor<1xi64>) -> tensor<i64>
// CHECK: %[[S1:.+]] = dtc.slice %[[T]] axis 0 from 1 {view}
// CHECK: %[[K1:.+]] = dtc.reshape %[[S1]]
// CHECK: dtc.random_uniform %[[K0]], %[[STEP]] {id = 0 : i64}
// CHECK: dtc.random_uniform %[[K1]], %[[STEP]] {id = 0 : i64}
// CHECK: dtc.random_uniform %[[K0]], %[[STEP]] {id = 0 : i64}
func.func @step(%seed: tensor<i64> {dtc.input = "seed"}, %step: tensor<f64> {dtc.input = "step"})
    -> (tensor<8xf32> {dtc.output = "a"}, tensor<8xf32> {dtc.output = "predictions"}, tensor<8xf32> {dtc.output = "c"}) {
  %0 = dtc.random_uniform %seed, %step {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<8xf32>
  %1 = dtc.random_uniform %seed, %step {id = 1 : i64} : (tensor<i64>, tensor<f64>) -> tensor<8xf32>
  %2 = dtc.random_uniform %seed, %step {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
