// RUN: dtc-opt %s --dtc-insert-boundaries --verify-diagnostics --split-input-file

func.func @forward(%x: tensor<4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
  // expected-note @below {{the value is computed here}}
  %0 = dtc.mul %x, %w {dtc.stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{is on stage 0, expected stage 1 or a later one, as it uses a value of that stage}}
  %1 = dtc.relu %0 {dtc.stage = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @forward(%x: tensor<4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
  // expected-note @below {{the value is computed here}}
  %0 = dtc.mul %x, %w {dtc.stage = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has no stage, expected stage 0 or a later one}}
  %1 = dtc.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
