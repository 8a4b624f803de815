// The errors of the verifiers of grouped products, by constraint.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

// C1, C2 of grouped_matmul
func.func @stack(%x: tensor<6x4xf32>, %w: tensor<3x5x2xf32>, %i: tensor<6xi64>) {
  // expected-error@below {{grouped_matmul of rows 'tensor<6x4xf32>' and weights 'tensor<3x5x2xf32>', expected a matrix and a stack of matrices whose contracted sizes agree}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.grouped_matmul %x, %w, %i : (tensor<6x4xf32>, tensor<3x5x2xf32>, tensor<6xi64>) -> tensor<6x2xf32>
  return
}

// -----

// C1
func.func @indices(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %i: tensor<5xi64>) {
  // expected-error@below {{has indices 'tensor<5xi64>', expected one for each row of 'tensor<6x4xf32>'}}
  %0 = dtc.grouped_matmul %x, %w, %i : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<5xi64>) -> tensor<6x2xf32>
  return
}

// -----

// C3
func.func @types(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf64>, %i: tensor<6xi64>) {
  // expected-error@below {{has rows 'tensor<6x4xf32>' and weights 'tensor<3x4x2xf64>', expected one element type}}
  %0 = dtc.grouped_matmul %x, %w, %i : (tensor<6x4xf32>, tensor<3x4x2xf64>, tensor<6xi64>) -> tensor<6x2xf32>
  return
}

// -----

// C3 of grouped_outer
func.func @outer_types(%x: tensor<6x4xf32>, %y: tensor<6x2xf64>, %i: tensor<6xi64>) {
  // expected-error@below {{has rows 'tensor<6x4xf32>' and 'tensor<6x2xf64>', expected one element type}}
  %0 = dtc.grouped_outer %x, %y, %i : (tensor<6x4xf32>, tensor<6x2xf64>, tensor<6xi64>) -> tensor<3x4x2xf32>
  return
}

// -----

// C1
func.func @outer_rows(%x: tensor<6x4xf32>, %y: tensor<5x2xf32>, %i: tensor<6xi64>) {
  // expected-error@below {{has rows 'tensor<6x4xf32>' and 'tensor<5x2xf32>' by indices 'tensor<6xi64>', expected two matrices with a row for each index}}
  %0 = dtc.grouped_outer %x, %y, %i : (tensor<6x4xf32>, tensor<5x2xf32>, tensor<6xi64>) -> tensor<3x4x2xf32>
  return
}

// -----

// C2
func.func @outer_result(%x: tensor<6x4xf32>, %y: tensor<6x2xf32>, %i: tensor<6xi64>) {
  // expected-error@below {{makes 'tensor<3x2x4xf32>' of rows 'tensor<6x4xf32>' and 'tensor<6x2xf32>', expected a stack of matrices of the rows' sizes}}
  %0 = dtc.grouped_outer %x, %y, %i : (tensor<6x4xf32>, tensor<6x2xf32>, tensor<6xi64>) -> tensor<3x2x4xf32>
  return
}
