// RUN: dtc-opt %s --dtc-split-stages --split-input-file --verify-diagnostics

// expected-error @below {{has no function @step with one block}}
module {
}

// -----

// expected-error @below {{has types without layouts; assign a mesh first}}
func.func @step(%x: tensor<8xf32>) {
  return
}

// -----

#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
// expected-error @below {{has 1 stages, expected a multiple of 2, the size of mesh axis pp}}
func.func @step(%w: tensor<8xf32, #r> {dtc.parameter = "w"}) {
  return
}

// -----

// Batch statistics over all micro-batches are known only when all have run.
#mesh = #dtc.mesh<pp=1, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x"}, %w: tensor<4xf32, #r> {dtc.parameter = "w"})
    -> (tensor<f64, #r> {dtc.output = "loss"}) {
  %z = dtc.mul %x, %w : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
  %s = dtc.reduce_sum %z axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
  // expected-note @below {{the sum is needed here}}
  %m = dtc.sum_microbatches %s : tensor<1x4xf32, #p> -> tensor<1x4xf32, #r>
  // expected-error @below {{needs, in each micro-batch, the result of a sum over all micro-batches that depends on more than inputs; use one micro-batch}}
  %y = dtc.sub %z, %m : (tensor<8x4xf32, #b>, tensor<1x4xf32, #r>) -> tensor<8x4xf32, #b>
  %q = dtc.sum_squares %y : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
  %l = dtc.sum_microbatches %q : tensor<f64, #p> -> tensor<f64, #r>
  return %l : tensor<f64, #r>
}

// -----

#mesh = #dtc.mesh<pp=1, mb=2>
#b = #dtc.layout<#mesh, mb: split(0)>
func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x"}) -> (tensor<8x4xf32, #b> {dtc.output = "y"}) {
  // expected-error @below {{is returned, but has a value for each micro-batch; reduce it first}}
  %y = dtc.relu %x : (tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
  return %y : tensor<8x4xf32, #b>
}

// -----

// The gradient of a stage cannot be what its own forward pass needs.
#mesh = #dtc.mesh<pp=2, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x"}, %w: tensor<4xf32, #r> {dtc.parameter = "w"},
                %v: tensor<4xf32, #r> {dtc.parameter = "v"}) -> (tensor<f64, #r> {dtc.output = "loss"}) {
  %z = dtc.mul %x, %v : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
  // expected-error @below {{is needed in phase 'forward' of stage 0, but cannot arrive before phase 'backward'}}
  %z0 = dtc.boundary %z from 1 to 0 : tensor<8x4xf32, #b>
  %y = dtc.mul %z0, %w : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
  %q = dtc.sum_squares %y : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
  %l = dtc.sum_microbatches %q : tensor<f64, #p> -> tensor<f64, #r>
  return %l : tensor<f64, #r>
}
