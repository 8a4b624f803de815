// RUN: dtc-opt %s --dtc-differentiate="freeze=fc9.weight,embed*,[" --verify-diagnostics

// expected-error @below {{no parameter matches 'fc9.weight' to freeze; the closest names are 'fc1.weight', 'fc2.weight', 'fc1.bias'}}
// expected-error @below {{no parameter matches 'embed*' to freeze}}
// expected-error @below {{cannot freeze '[': }}
func.func @step(%a: tensor<4xf32> {dtc.parameter = "fc1.weight"}, %b: tensor<4xf32> {dtc.parameter = "fc1.bias"},
                %c: tensor<4xf32> {dtc.parameter = "fc2.weight"}, %d: tensor<4xf32> {dtc.parameter = "positions"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.sum_squares %a : (tensor<4xf32>) -> tensor<f64>
  return %0 : tensor<f64>
}
