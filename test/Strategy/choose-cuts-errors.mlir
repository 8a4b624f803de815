// RUN: dtc-opt %s --dtc-choose-cuts=stages=3 --verify-diagnostics --split-input-file

// expected-error @below {{cannot cut the graph into 3 pipeline stages, expected 1 to 2: it has that many ops between its inputs and outputs}}
func.func @forward(%x: tensor<4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
  %0 = dtc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dtc.add %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = dtc.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// expected-error @below {{no function @forward with one block}}
module {}

// -----

// Two places to cut at, one of them between the parts of a tensor.
// expected-error @below {{cannot cut the graph into 3 pipeline stages without separating parts of a tensor that tensor parallelism splits; use fewer stages}}
func.func @forward(%x: tensor<4xf32> {dtc.input = "x"},
                   %a: tensor<4xf32> {dtc.parameter = "w.0", dtc.part = {dim = 0 : i64, shape = array<i64: 8>, start = 0 : i64, tensor = "w"}},
                   %b: tensor<4xf32> {dtc.parameter = "w.1", dtc.part = {dim = 0 : i64, shape = array<i64: 8>, start = 4 : i64, tensor = "w"}}) -> (tensor<4xf32> {dtc.output = "y"}) {
  %0 = dtc.add %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = dtc.add %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = dtc.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
