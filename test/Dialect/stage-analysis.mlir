// RUN: dtc-opt %s --dtc-verify=invariant=strategy --verify-diagnostics --split-input-file

// Errors of StageAnalysis, and of findFunction.

module attributes {dtc.strategy = {pp = 2 : i64}} {
  // Values of two stages meet without a boundary.

  func.func @step(%w: tensor<4xf32> {dtc.frozen, dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "grad_norm"}) {
    %0 = dtc.boundary %w from 0 to 1 : tensor<4xf32>
    // expected-error @below {{'dtc.add' op mixes values of stages 1 and 0, expected a dtc.boundary between them}}
    %1 = dtc.add %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = dtc.sum_squares %1 : (tensor<4xf32>) -> tensor<f64>
    %3 = dtc.sum_over_stages %2 : (tensor<f64>) -> tensor<f64>
    // expected-error @below {{starts from stage 1, but its operand is on stage 0}}
    %4 = dtc.boundary %w from 1 to 2 : tensor<4xf32>
    return %3, %3 : tensor<f64>, tensor<f64>
  }
}

// -----

module attributes {dtc.strategy = {pp = 2 : i64}} {
  // An input is known everywhere.

  func.func @step(%x: tensor<4xf32> {dtc.input = "x", dtc.kind = "input"}) -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "grad_norm"}) {
    // expected-error @below {{carries a value that every stage knows, expected its users to use it directly}}
    %0 = dtc.boundary %x from 0 to 1 : tensor<4xf32>
    %1 = dtc.sum_squares %0 : (tensor<4xf32>) -> tensor<f64>
    return %1, %1 : tensor<f64>, tensor<f64>
  }
}

// -----

// expected-error @below {{has no function @step with one block}}
module {
}
