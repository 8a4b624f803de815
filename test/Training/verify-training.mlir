// RUN: dtc-opt %s --dtc-choose-cuts=stages=2 --dtc-insert-boundaries --dtc-add-loss=loss=mse --dtc-differentiate --dtc-add-optimizer --dtc-verify=invariant=training --verify-roundtrip | FileCheck %s

// The whole phase keeps its own invariant.

// CHECK: func.func @step
module attributes {dtc.strategy = {pp = 2 : i64}} {
  func.func @forward(%x: tensor<8x4xf32> {dtc.input = "x"}, %w: tensor<4x4xf32> {dtc.parameter = "w"},
                     %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<8x4xf32> {dtc.output = "y"}) {
    %0 = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = dtc.add %0, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %2 = dtc.tanh %1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = dtc.matmul %2, %w {transpose_rhs} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}
