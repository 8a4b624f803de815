// Valid surroundings of batch norms, besides one norm after the other.
// RUN: dtc-opt %s --dtc-expand-training-ops="statistics=micro microbatches=2" --split-input-file --verify-diagnostics | FileCheck %s

// A module that is used twice: its averages follow each other.

// CHECK-LABEL: module @twice
// CHECK: @step({{.*}}, %[[M:[^:]+]]: tensor<4xf64> {dtc.frozen, dtc.parameter = "m", dtc.statistic}, %[[V:[^:]+]]: tensor<4xf64> {dtc.frozen, dtc.parameter = "v", dtc.statistic})
// CHECK: %[[M1:.+]] = dtc.average %[[M]], %{{.+}}
// CHECK: %[[V1:.+]] = dtc.average %[[V]], %{{.+}}
// CHECK: %[[M2:.+]] = dtc.average %[[M1]], %{{.+}}
// CHECK: %[[V2:.+]] = dtc.average %[[V1]], %{{.+}}
// CHECK: return %{{.+}}, %[[M2]], %[[V2]]
module @twice {
  func.func @step(%x: tensor<8x4xf64>, %s: tensor<4xf64> {dtc.parameter = "s"}, %b: tensor<4xf64> {dtc.parameter = "b"},
                  %m: tensor<4xf64> {dtc.parameter = "m"}, %v: tensor<4xf64> {dtc.parameter = "v"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %0 = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %1 = dtc.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %2 = dtc.sum_squares %1 : (tensor<8x4xf64>) -> tensor<f64>
    return %2 : tensor<f64>
  }
}

// -----

// A value with another batch than the norm's is no part of it. A value with its
// own batch (a factor for each sample and channel) joins its groups.

// CHECK-LABEL: module @broadcast
// CHECK: %[[Y:.+]] = dtc.reshape %{{.+}} : (tensor<2x4x4xf64>) -> tensor<8x4xf64>
// CHECK: dtc.add %{{.+}}, %[[Y]] : (tensor<3x8x4xf64>, tensor<8x4xf64>) -> tensor<3x8x4xf64>
// CHECK: %[[F:.+]] = dtc.reshape %{{.+}} : (tensor<8x1xf64>) -> tensor<2x4x1xf64>
// CHECK: dtc.mul %{{.+}}, %[[F]] : (tensor<2x4x4xf64>, tensor<2x4x1xf64>) -> tensor<2x4x4xf64>
module @broadcast {
  func.func @step(%x: tensor<8x4xf64>, %k: tensor<3x8x4xf64>, %f: tensor<8x1xf64>, %s: tensor<4xf64> {dtc.parameter = "s"}, %b: tensor<4xf64> {dtc.parameter = "b"},
                  %m: tensor<4xf64> {dtc.parameter = "m"}, %v: tensor<4xf64> {dtc.parameter = "v"}) -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "other"}) {
    %0 = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %1 = dtc.add %k, %0 : (tensor<3x8x4xf64>, tensor<8x4xf64>) -> tensor<3x8x4xf64>
    %2 = dtc.mul %0, %f : (tensor<8x4xf64>, tensor<8x1xf64>) -> tensor<8x4xf64>
    %3 = dtc.sum_squares %1 : (tensor<3x8x4xf64>) -> tensor<f64>
    %4 = dtc.sum_squares %2 : (tensor<8x4xf64>) -> tensor<f64>
    return %3, %4 : tensor<f64>, tensor<f64>
  }
}

// -----

module @merged {
  func.func @step(%x: tensor<8x4xf64>, %s: tensor<4xf64> {dtc.parameter = "s"}, %b: tensor<4xf64> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    // expected-error@below {{keeps running statistics in a tensor that has other uses, too; save the model with a separate tensor for each}}
    %0 = dtc.batch_norm %x, %s, %b, %b, %s {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %1 = dtc.sum_squares %0 : (tensor<8x4xf64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
}

// -----

module @none {
  // expected-error@below {{the model has no batch norm for --batchnorm micro; leave the option out}}
  func.func @step(%x: tensor<8x4xf64>) -> (tensor<f64> {dtc.output = "loss"}) {
    %1 = dtc.sum_squares %x : (tensor<8x4xf64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
}

// -----

// A module whose second use is on another stage.

module @stages {
  func.func @step(%x: tensor<8x4xf64>, %s: tensor<4xf64> {dtc.parameter = "s"}, %b: tensor<4xf64> {dtc.parameter = "b"},
                  %m: tensor<4xf64> {dtc.parameter = "m"}, %v: tensor<4xf64> {dtc.parameter = "v"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %0 = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %x1 = dtc.boundary %0 from 0 to 1 : tensor<8x4xf64>
    %s1 = dtc.boundary %s from 0 to 1 : tensor<4xf64>
    %b1 = dtc.boundary %b from 0 to 1 : tensor<4xf64>
    %m1 = dtc.boundary %m from 0 to 1 : tensor<4xf64>
    %v1 = dtc.boundary %v from 0 to 1 : tensor<4xf64>
    // expected-error@below {{updates running statistics that another stage has; keep the uses of this normalisation on one stage}}
    %1 = dtc.batch_norm %x1, %s1, %b1, %m1, %v1 {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %2 = dtc.sum_squares %1 : (tensor<8x4xf64>) -> tensor<f64>
    return %2 : tensor<f64>
  }
}

// -----

// A statistic that another stage uses as something else.

module @other {
  func.func @step(%x: tensor<8x4xf64>, %s: tensor<4xf64> {dtc.parameter = "s"}, %b: tensor<4xf64> {dtc.parameter = "b"},
                  %m: tensor<4xf64> {dtc.parameter = "m"}, %v: tensor<4xf64> {dtc.parameter = "v"}) -> (tensor<f64> {dtc.output = "loss"}) {
    // expected-error@below {{keeps running statistics in a tensor that has other uses, too; save the model with a separate tensor for each}}
    %0 = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %x1 = dtc.boundary %0 from 0 to 1 : tensor<8x4xf64>
    %m1 = dtc.boundary %m from 0 to 1 : tensor<4xf64>
    %1 = dtc.add %x1, %m1 : (tensor<8x4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
    %2 = dtc.sum_squares %1 : (tensor<8x4xf64>) -> tensor<f64>
    return %2 : tensor<f64>
  }
}
