// RUN: dtc-opt %s --split-input-file --verify-diagnostics

#mesh = #dtc.mesh<dp=2>
#dp = #dtc.layout<#mesh, dp: split(0)>
#replicated = #dtc.layout<#mesh>

// Random numbers that are split must know which part they are (C2).
func.func @no_part(%seed: tensor<i64, #replicated>, %step: tensor<f64, #replicated>) {
  // expected-error @+1 {{is split along dimension 0 by (dp), but is told its part by ()}}
  %0 = dtc.random_uniform %seed, %step {id = 0 : i64} : (tensor<i64, #replicated>, tensor<f64, #replicated>) -> tensor<8x4xf32, #dp>
  return
}

// -----

// Each part has a dimension and a number of ways (C1).
func.func @no_dimension(%seed: tensor<i64>, %step: tensor<f64>, %part: tensor<1xi64>) {
  // expected-error @+1 {{has 1 parts, of 0 dimensions in 0 ways, expected as many of each, and one more if one of the ways is 0}}
  %0 = dtc.random_uniform %seed, %step, %part {id = 0 : i64} : (tensor<i64>, tensor<f64>, tensor<1xi64>) -> tensor<8x4xf32>
  return
}

// -----

// At most one axis has its number of parts in an operand (C3), a number.
func.func @no_ways(%seed: tensor<i64>, %step: tensor<f64>, %part: tensor<2xi64>) {
  // expected-error @+1 {{has 1 parts, of 1 dimensions in 1 ways, expected as many of each, and one more if one of the ways is 0}}
  %0 = dtc.random_uniform %seed, %step, %part {dims = array<i64: 0>, id = 0 : i64, ways = array<i64: 0>} : (tensor<i64>, tensor<f64>, tensor<2xi64>) -> tensor<8x4xf32>
  return
}

// -----

func.func @ways_of_integers(%seed: tensor<i64>, %step: tensor<f64>, %part: tensor<2xi64>, %ways: tensor<1xi64>) {
  // expected-error @+1 {{has ways 'tensor<1xi64>', expected tensor<f64>}}
  %0 = dtc.random_uniform %seed, %step, %part, %ways {dims = array<i64: 0>, id = 0 : i64, ways = array<i64: 0>} : (tensor<i64>, tensor<f64>, tensor<2xi64>, tensor<1xi64>) -> tensor<8x4xf32>
  return
}

// -----

func.func @no_such_dimension(%seed: tensor<i64>, %step: tensor<f64>, %part: tensor<1xi64>) {
  // expected-error @+1 {{has a part 'tensor<1xi64>' of dimension 2 of 'tensor<8x4xf32>', expected one number for each of its parts}}
  %0 = dtc.random_uniform %seed, %step, %part {id = 0 : i64, dims = array<i64: 2>, ways = array<i64: 2>} : (tensor<i64>, tensor<f64>, tensor<1xi64>) -> tensor<8x4xf32>
  return
}

// -----

func.func @probability(%x: tensor<4xf32>, %seed: tensor<i64>, %step: tensor<f64>) {
  // expected-error @+1 {{has probability 1.500000e+00, expected one from 0 to 1}}
  %0 = dtc.dropout %x, %seed, %step {id = 0 : i64, probability = 1.5 : f64} : (tensor<4xf32>, tensor<i64>, tensor<f64>) -> tensor<4xf32>
  return
}
