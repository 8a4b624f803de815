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

// -----

// C1 of dispatch
func.func @dispatch_rows(%x: tensor<6x4xf32>, %i: tensor<5xi64>) {
  // expected-error@below {{has rows 'tensor<6x4xf32>' and indices 'tensor<5xi64>', expected a matrix and an index for each of its rows}}
  %0 = dtc.dispatch %x, %i {axis = "ep"} : (tensor<6x4xf32>, tensor<5xi64>) -> tensor<3x2x3x4xf32>
  return
}

// -----

// C2
func.func @combine_slots(%s: tensor<3x4x3x4xf32>, %i: tensor<6xi64>) {
  // expected-error@below {{has slots 'tensor<3x4x3x4xf32>' of rows 'tensor<6x4xf32>', expected [experts, groups, capacity, width] of their type, where groups divide the rows}}
  %0 = dtc.combine %s, %i {axis = "ep"} : (tensor<3x4x3x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  return
}

// -----

// C1 to C3 of count_rows
func.func @counts(%i: tensor<6xi64>) {
  // expected-error@below {{counts 'tensor<6xi64>' in 'tensor<3x2xi32>' up to 0, expected [experts, groups], where groups divide the rows, and a capacity of 1 or more}}
  %0 = dtc.count_rows %i {axis = "ep", capacity = 0 : i64} : (tensor<6xi64>) -> tensor<3x2xi32>
  return
}

// -----

// C1, C2 of expert_matmul
func.func @experts(%s: tensor<3x2x3x4xf32>, %w: tensor<2x4x5xf32>, %n: tensor<3x2xi32>) {
  // expected-error@below {{expert_matmul of slots 'tensor<3x2x3x4xf32>' and weights 'tensor<2x4x5xf32>', expected [experts, groups, capacity, width] and a matrix for each expert whose contracted size is the width}}
  // expected-error@below {{failed to infer returned types}}
  %0 = dtc.expert_matmul %s, %w, %n {group_rows = 3 : i64} : (tensor<3x2x3x4xf32>, tensor<2x4x5xf32>, tensor<3x2xi32>) -> tensor<3x2x3x5xf32>
  return
}

// -----

// C3
func.func @expert_types(%s: tensor<3x2x3x4xf32>, %w: tensor<3x4x5xf64>, %n: tensor<3x2xi32>) {
  // expected-error@below {{has slots 'tensor<3x2x3x4xf32>' and weights 'tensor<3x4x5xf64>', expected one element type}}
  %0 = dtc.expert_matmul %s, %w, %n {group_rows = 3 : i64} : (tensor<3x2x3x4xf32>, tensor<3x4x5xf64>, tensor<3x2xi32>) -> tensor<3x2x3x5xf32>
  return
}

// -----

// C4
func.func @expert_counts(%s: tensor<3x2x3x4xf32>, %w: tensor<3x4x5xf32>, %n: tensor<2x2xi32>) {
  // expected-error@below {{has counts 'tensor<2x2xi32>', expected one for each expert and group of 'tensor<3x2x3x4xf32>'}}
  %0 = dtc.expert_matmul %s, %w, %n {group_rows = 3 : i64} : (tensor<3x2x3x4xf32>, tensor<3x4x5xf32>, tensor<2x2xi32>) -> tensor<3x2x3x5xf32>
  return
}

// -----

// C3 of expert_outer
func.func @outer_slot_types(%a: tensor<3x2x3x4xf32>, %b: tensor<3x2x3x5xf64>, %n: tensor<3x2xi32>) {
  // expected-error@below {{has slots 'tensor<3x2x3x4xf32>' and 'tensor<3x2x3x5xf64>', expected one element type}}
  %0 = dtc.expert_outer %a, %b, %n {group_rows = 3 : i64} : (tensor<3x2x3x4xf32>, tensor<3x2x3x5xf64>, tensor<3x2xi32>) -> tensor<3x4x5xf32>
  return
}

// -----

// C1, C4
func.func @outer_slots(%a: tensor<3x2x3x4xf32>, %b: tensor<3x2x2x5xf32>, %n: tensor<3x2xi32>) {
  // expected-error@below {{has slots 'tensor<3x2x3x4xf32>' and 'tensor<3x2x2x5xf32>' by counts 'tensor<3x2xi32>', expected the same slots and a count for each expert and group}}
  %0 = dtc.expert_outer %a, %b, %n {group_rows = 3 : i64} : (tensor<3x2x3x4xf32>, tensor<3x2x2x5xf32>, tensor<3x2xi32>) -> tensor<3x4x5xf32>
  return
}

// -----

// C2
func.func @outer_matrices(%a: tensor<3x2x3x4xf32>, %b: tensor<3x2x3x5xf32>, %n: tensor<3x2xi32>) {
  // expected-error@below {{makes 'tensor<3x5x4xf32>' of slots 'tensor<3x2x3x4xf32>' and 'tensor<3x2x3x5xf32>', expected a matrix of their widths for each expert}}
  %0 = dtc.expert_outer %a, %b, %n {group_rows = 3 : i64} : (tensor<3x2x3x4xf32>, tensor<3x2x3x5xf32>, tensor<3x2xi32>) -> tensor<3x5x4xf32>
  return
}
