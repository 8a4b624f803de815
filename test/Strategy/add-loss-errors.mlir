// RUN: dtc-opt %s --dtc-add-loss --verify-diagnostics --split-input-file

// expected-error @below {{the model has 2 outputs, 'a', 'b': choose the one for the loss with --loss-of}}
func.func @forward(%w: tensor<2x4xf32> {dtc.parameter = "w"}) -> (tensor<2x4xf32> {dtc.output = "a"}, tensor<2x4xf32> {dtc.output = "b"}) {
  return %w, %w : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// expected-error @below {{the model has no floating-point output to take a loss of}}
func.func @forward(%x: tensor<2xi64> {dtc.input = "x"}) -> (tensor<2xi64> {dtc.output = "a"}) {
  return %x : tensor<2xi64>
}

// -----

func.func @forward(%w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "a"}) {
  // expected-error @below {{cross-entropy of an output of type 'tensor<4xf32>', expected logits of rank 2 or more: a batch of classes}}
  %0 = dtc.neg %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{the model has an input 'labels' already; if it computes the loss itself, pass --loss output}}
func.func @forward(%x: tensor<2x4xf32> {dtc.input = "labels"}) -> (tensor<2x4xf32> {dtc.output = "a"}) {
  return %x : tensor<2x4xf32>
}

// -----

// Logits whose batch and sequence are one dimension.
func.func @forward(%x: tensor<2x3x4xf32> {dtc.input = "x"}) -> (tensor<6x4xf32> {dtc.output = "a"}) {
  // expected-error @below {{labels would have shape [6], but 'x' has 2 samples, its first dimension; export an output with the batch in front, or a model that computes its loss (--loss output)}}
  %0 = dtc.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
