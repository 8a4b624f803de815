// RUN: dtc-opt %s --dtc-expand-training-ops | FileCheck %s

// Both share the ops before the first dropout; a batch norm uses its running
// statistics.

// CHECK: @step(%[[X:[^:]+]]: tensor<8x4xf64> {{.+}}, %[[M:[^:]+]]: tensor<4xf64> {dtc.frozen, dtc.parameter = "m", dtc.statistic}
// CHECK: %[[H:.+]] = dtc.tanh %[[X]]
// CHECK: dtc.random_uniform
// CHECK: %[[D:.+]] = dtc.select
// CHECK: %[[G:.+]] = dtc.reshape %[[D]]
// CHECK: dtc.reduce_sum %[[G]]
// CHECK: dtc.relu
// CHECK: %[[L:.+]] = dtc.squared_error
// CHECK-NOT: dtc.random_uniform
// CHECK: dtc.sub %[[H]], %[[M]]
// CHECK-NOT: dtc.reduce_sum
// CHECK: %[[EY:.+]] = dtc.relu
// CHECK-NOT: dtc.squared_error
// CHECK: return %[[L]], %[[EY]], 

func.func @step(%x: tensor<8x4xf64> {dtc.input = "x", dtc.kind = "input"}, %t: tensor<8x4xf64> {dtc.input = "t", dtc.kind = "label"},
                %seed: tensor<i64> {dtc.input = "seed", dtc.kind = "seed"}, %step: tensor<f64> {dtc.input = "step", dtc.kind = "step"},
                %s: tensor<4xf64> {dtc.parameter = "s"}, %b: tensor<4xf64> {dtc.parameter = "b"},
                %m: tensor<4xf64> {dtc.parameter = "m"}, %v: tensor<4xf64> {dtc.parameter = "v"})
    -> (tensor<f64> {dtc.output = "loss"}, tensor<8x4xf64> {dtc.output = "predictions"}) {
  %0 = dtc.tanh %x : (tensor<8x4xf64>) -> tensor<8x4xf64>
  %1 = dtc.dropout %0, %seed, %step {id = 0 : i64, probability = 1.0e-1 : f64} : (tensor<8x4xf64>, tensor<i64>, tensor<f64>) -> tensor<8x4xf64>
  %2 = dtc.batch_norm %1, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
  %3 = dtc.relu %2 : (tensor<8x4xf64>) -> tensor<8x4xf64>
  %4 = dtc.squared_error %3, %t : (tensor<8x4xf64>, tensor<8x4xf64>) -> tensor<f64>
  return %4, %3 : tensor<f64>, tensor<8x4xf64>
}
