// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: products by chosen matrices, and rows in slots.

// CHECK-LABEL: module @grouped_matmul
// CHECK: %[[Y:.+]] = dtc.grouped_matmul %[[X:.+]], %[[W:.+]], %[[I:.+]] :
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-DAG: %[[DX:.+]] = dtc.grouped_matmul %[[G]], %[[W]], %[[I]] {transpose_weights} : (tensor<6x3xf32>, tensor<5x4x3xf32>, tensor<6xi64>) -> tensor<6x4xf32>
// CHECK-DAG: %[[DW:.+]] = dtc.grouped_outer %[[X]], %[[G]], %[[I]] : (tensor<6x4xf32>, tensor<6x3xf32>, tensor<6xi64>) -> tensor<5x4x3xf32>
// CHECK: return %{{.+}}, %[[DX]], %[[DW]]
module @grouped_matmul {
  func.func @step(%x: tensor<6x4xf32> {dtc.parameter = "x"}, %w: tensor<5x4x3xf32> {dtc.parameter = "w"}, %i: tensor<6xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.grouped_matmul %x, %w, %i : (tensor<6x4xf32>, tensor<5x4x3xf32>, tensor<6xi64>) -> tensor<6x3xf32>
    %l = dtc.sum_squares %y : (tensor<6x3xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @grouped_matmul_transposed
// CHECK: %[[Y:.+]] = dtc.grouped_matmul %[[X:.+]], %[[W:.+]], %[[I:.+]] {transpose_weights} :
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-DAG: dtc.grouped_matmul %[[G]], %[[W]], %[[I]] : (tensor<6x3xf32>, tensor<5x3x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
// CHECK-DAG: dtc.grouped_outer %[[G]], %[[X]], %[[I]] : (tensor<6x3xf32>, tensor<6x4xf32>, tensor<6xi64>) -> tensor<5x3x4xf32>
module @grouped_matmul_transposed {
  func.func @step(%x: tensor<6x4xf32> {dtc.parameter = "x"}, %w: tensor<5x3x4xf32> {dtc.parameter = "w"}, %i: tensor<6xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.grouped_matmul %x, %w, %i {transpose_weights} : (tensor<6x4xf32>, tensor<5x3x4xf32>, tensor<6xi64>) -> tensor<6x3xf32>
    %l = dtc.sum_squares %y : (tensor<6x3xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// Dispatch and combine are gradients of each other, and keep the axis.
// CHECK-LABEL: module @dispatch
// CHECK: %[[Y:.+]] = dtc.dispatch %{{.+}}, %[[I:.+]] {axis = "ep"}
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK: dtc.combine %[[G]], %[[I]] {axis = "ep"} : (tensor<5x2x2x3xf32>, tensor<6xi64>) -> tensor<6x3xf32>
module @dispatch {
  func.func @step(%x: tensor<6x3xf32> {dtc.parameter = "x"}, %i: tensor<6xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.dispatch %x, %i {axis = "ep"} : (tensor<6x3xf32>, tensor<6xi64>) -> tensor<5x2x2x3xf32>
    %l = dtc.sum_squares %y : (tensor<5x2x2x3xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @combine
// CHECK: %[[Y:.+]] = dtc.combine %{{.+}}, %[[I:.+]] {axis = "ep"}
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK: dtc.dispatch %[[G]], %[[I]] {axis = "ep"} : (tensor<6x3xf32>, tensor<6xi64>) -> tensor<5x2x1x3xf32>
module @combine {
  func.func @step(%s: tensor<5x2x1x3xf32> {dtc.parameter = "s"}, %i: tensor<6xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.combine %s, %i {axis = "ep"} : (tensor<5x2x1x3xf32>, tensor<6xi64>) -> tensor<6x3xf32>
    %l = dtc.sum_squares %y : (tensor<6x3xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// The last row of an index has no slot.
// CHECK-LABEL: module @expert_matmul
// CHECK: %[[N:.+]] = dtc.count_rows
// CHECK: %[[Y:.+]] = dtc.expert_matmul %[[S:.+]], %[[W:.+]], %[[N]] {group_rows = 3 : i64} :
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-DAG: dtc.expert_matmul %[[G]], %[[W]], %[[N]] {group_rows = 3 : i64, transpose_weights} : (tensor<5x2x2x3xf32>, tensor<5x4x3xf32>, tensor<5x2xi32>) -> tensor<5x2x2x4xf32>
// CHECK-DAG: dtc.expert_outer %[[S]], %[[G]], %[[N]] {group_rows = 3 : i64} : (tensor<5x2x2x4xf32>, tensor<5x2x2x3xf32>, tensor<5x2xi32>) -> tensor<5x4x3xf32>
module @expert_matmul {
  func.func @step(%s: tensor<5x2x2x4xf32> {dtc.parameter = "s"}, %w: tensor<5x4x3xf32> {dtc.parameter = "w"}, %i: tensor<6xi64> {dtc.input = "i"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %n = dtc.count_rows %i {axis = "ep", capacity = 2 : i64} : (tensor<6xi64>) -> tensor<5x2xi32>
    %y = dtc.expert_matmul %s, %w, %n {group_rows = 3 : i64} : (tensor<5x2x2x4xf32>, tensor<5x4x3xf32>, tensor<5x2xi32>) -> tensor<5x2x2x3xf32>
    %l = dtc.sum_squares %y : (tensor<5x2x2x3xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
