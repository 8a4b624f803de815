// RUN: dtc-opt %s --dtc-verify=invariant=training --verify-diagnostics --split-input-file

module attributes {dtc.strategy = {pp = 2 : i64}} {
  // expected-error @below {{argument 0 is not one of dtc.input, dtc.parameter, dtc.state}}
  // expected-error @below {{input "x" has no dtc.kind, expected input, label, lr, step or seed}}
  // expected-error @below {{result 0 is not one of dtc.output, dtc.parameter, dtc.state, dtc.gradient}}
  // expected-error @below {{no result with dtc.output = "loss"}}
  // expected-error @below {{no result with dtc.output = "grad_norm"}}
  // expected-error @below {{the loss depends on 1 pipeline stages, expected 2; compile with fewer stages}}
  func.func @step(%a: tensor<4xf32>, %x: tensor<4xf32> {dtc.input = "x"}) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}

// -----

module attributes {dtc.strategy = {pp = 2 : i64}} {
  // expected-error @below {{no result with dtc.parameter = "w" of type 'tensor<4xf32>'}}
  // expected-error @below {{no result with dtc.gradient = "w" of type 'tensor<4xf32>'}}
  // expected-error @below {{no result with dtc.state = "w.exp_avg" of type 'tensor<4xf32>'}}
  func.func @step(%w: tensor<4xf32> {dtc.parameter = "w"}, %m: tensor<4xf32> {dtc.state = "w.exp_avg"})
      -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "grad_norm"}) {
    %0 = dtc.boundary %w from 0 to 1 : tensor<4xf32>
    %1 = dtc.sum_squares %0 : (tensor<4xf32>) -> tensor<f64>
    %2 = dtc.sum_over_stages %1 : (tensor<f64>) -> tensor<f64>
    return %2, %2 : tensor<f64>, tensor<f64>
  }
}

// -----

#mesh = #dtc.mesh<dp=2>
#replicated = #dtc.layout<#mesh>
module attributes {dtc.strategy = {pp = 2 : i64}} {
  func.func @step(%w: tensor<4xf32> {dtc.frozen, dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "grad_norm"}) {
    %0 = dtc.boundary %w from 0 to 1 : tensor<4xf32>
    %1 = dtc.sum_squares %0 : (tensor<4xf32>) -> tensor<f64>
    %2 = dtc.sum_over_stages %1 : (tensor<f64>) -> tensor<f64>
    // expected-error @below {{has a value of type 'tensor<4xf32, #dtc.layout<#dtc.mesh<dp=2>>>', expected a tensor of static shape without layout}}
    %3 = dtc.constant dense<0.0> : tensor<4xf32> to tensor<4xf32, #replicated>
    return %2, %2 : tensor<f64>, tensor<f64>
  }
}
