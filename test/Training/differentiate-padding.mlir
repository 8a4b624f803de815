// RUN: dtc-opt %s --dtc-differentiate | FileCheck %s

// A lookup does not train its padding; another use of the row does. (Not a
// derivative, so not among the rules that finite differences check.)
// CHECK: %[[Y:.+]] = dtc.gather %{{.+}}, %[[I:[a-z0-9]+]] {dtc.padding = 1 : i64}
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK: %[[ONE:.+]] = dtc.constant dense<1> : tensor<i64>
// CHECK: %[[ROWS:.+]] = dtc.reshape %[[I]] : (tensor<2x3xi64>) -> tensor<2x3x1xi64>
// CHECK: %[[IS:.+]] = dtc.compare eq %[[ROWS]], %[[ONE]]
// CHECK: %[[M:.+]] = dtc.select %[[IS]], %{{.+}}, %[[G]]
// CHECK: dtc.scatter_add %[[I]], %[[M]]
func.func @step(%table: tensor<5x4xf32> {dtc.parameter = "table"}, %i: tensor<2x3xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %y = dtc.gather %table, %i {dtc.padding = 1 : i64} : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %l = dtc.sum_squares %y : (tensor<2x3x4xf32>) -> tensor<f64>
  return %l : tensor<f64>
}
