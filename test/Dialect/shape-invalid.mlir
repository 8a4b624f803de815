// The errors of the verifiers of elementwise ops and of moves, each message
// once per op that has it.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@below {{shapes do not broadcast: sizes 3 and 2 of dimension 1}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.add %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@below {{shapes do not broadcast: sizes 3 and 2 of dimension 1}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.compare lt %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xi1>
  return
}

// -----

func.func @f(%x: tensor<4xi64>) {
  // expected-error@below {{changes the shape from 'tensor<4xi64>' to 'tensor<2x2xf32>'}}
  %0 = dtc.cast %x : (tensor<4xi64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<3x2xf32>) {
  // expected-error@below {{'tensor<3x2xf32>' does not broadcast to 'tensor<2x3x4xf32>'}}
  %0 = dtc.broadcast %x : (tensor<3x2xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@below {{value is 'tensor<2xf32>', expected 'tensor<3xf32>'}}
  %0 = "dtc.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@below {{cannot turn 'tensor<4x6xf32>' into 'tensor<23xf32>', expected as many elements of the same type}}
  %0 = dtc.reshape %x : (tensor<4x6xf32>) -> tensor<23xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@below {{[0, 2] is not a permutation of the dimensions of 'tensor<2x3xf32>'}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.transpose %x [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@below {{[0, 0] is not a permutation of the dimensions of 'tensor<2x3xf32>'}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.transpose %x [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{operand and result are 'tensor<4x8xf32>' and 'tensor<4x3xf64>', expected the same rank and element type}}
  %0 = dtc.slice %x axis 1 from 2 : (tensor<4x8xf32>) -> tensor<4x3xf64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 2 is not a dimension of 'tensor<4x8xf32>'}}
  %0 = dtc.slice %x axis 2 from 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{dimension 0 changes from 4 to 2, expected a change of dimension 1 only}}
  %0 = dtc.slice %x axis 1 from 2 : (tensor<4x8xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{range 6 .. 9 leaves dimension 1 of size 8}}
  %0 = dtc.slice %x axis 1 from 6 : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>) {
  // expected-error@below {{range 6 .. 9 leaves dimension 1 of size 8}}
  %0 = dtc.pad %x axis 1 at 6 : (tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{parts have 7 elements along dimension 1, the whole has 8}}
  %0, %1 = dtc.split %x axis 1 : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>, %y: tensor<4x5xf32>) {
  // expected-error@below {{parts have 7 elements along dimension 1, the whole has 8}}
  %0 = dtc.concat %x, %y axis 1 : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  return
}
