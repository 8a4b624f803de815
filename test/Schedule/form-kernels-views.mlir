// RUN: dtc-opt %s --dtc-form-kernels | FileCheck %s

// Positions of a sequence that kernels do not cut on the way are read where
// they lie, and one kernel serves all. Not so where a part is returned, where
// it is overwritten or what it is cut from, where it is in pieces, or begins
// between the bytes of a wide access.

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // CHECK-LABEL: func.func @positions
  // CHECK: %[[A:.*]] = dtc.slice %arg0 axis 0 from 0 {view}
  // CHECK: %[[X:.*]] = dtc.reshape %[[A]]
  // CHECK: %[[P:.*]] = dtc.matmul %[[X]]
  // CHECK: %[[B:.*]] = dtc.slice %arg0 axis 0 from 1 {view}
  // CHECK: %[[Y:.*]] = dtc.reshape %[[B]]
  // CHECK: dtc.launch @kernels::@kernel_tanh_add(%[[P]], %[[Y]])
  func.func @positions(%x: tensor<2x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
    %0 = dtc.slice %x axis 0 from 0 : (tensor<2x4x8xf32>) -> tensor<1x4x8xf32>
    %1 = dtc.reshape %0 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %2 = dtc.matmul %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %3 = dtc.tanh %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = dtc.slice %x axis 0 from 1 : (tensor<2x4x8xf32>) -> tensor<1x4x8xf32>
    %5 = dtc.reshape %4 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %6 = dtc.add %5, %3 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %6 : tensor<4x8xf32>
  }

  // CHECK-LABEL: func.func @split
  // CHECK: dtc.slice %arg0 axis 1 from 0 {view}
  // CHECK: dtc.slice %arg0 axis 1 from 4 {view}
  // CHECK: dtc.matmul
  func.func @split(%x: tensor<1x12x4xf32>) -> tensor<1x4x8xf32> {
    %0:2 = dtc.split %x axis 1 : (tensor<1x12x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x8x4xf32>)
    %1 = dtc.matmul %0#0, %0#1 {transpose_rhs} : (tensor<1x4x4xf32>, tensor<1x8x4xf32>) -> tensor<1x4x8xf32>
    return %1 : tensor<1x4x8xf32>
  }

  // CHECK-LABEL: func.func @part_of_part
  // CHECK: %[[A:.*]] = dtc.slice %arg0 axis 0 from 1 {view}
  // CHECK: %[[B:.*]] = dtc.reshape %[[A]]
  // CHECK: %[[C:.*]] = dtc.slice %[[B]] axis 0 from 2 {view}
  // CHECK: dtc.matmul %[[C]], %[[C]]
  func.func @part_of_part(%x: tensor<2x4x4xf32>) -> tensor<2x2xf32> {
    %0 = dtc.slice %x axis 0 from 1 : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
    %1 = dtc.reshape %0 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %2 = dtc.slice %1 axis 0 from 2 : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %3 = dtc.matmul %2, %2 {transpose_rhs} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    return %3 : tensor<2x2xf32>
  }

  // CHECK-LABEL: func.func @whole_returned
  // CHECK: %[[W:.*]] = dtc.matmul
  // CHECK: %[[P:.*]] = dtc.slice %[[W]] axis 0 from 1 {view}
  // CHECK: return %[[W]]
  func.func @whole_returned(%x: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<1x4x4xf32>) {
    %0 = dtc.matmul %x, %x : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %1 = dtc.slice %0 axis 0 from 1 : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
    %2 = dtc.matmul %1, %1 : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    return %0, %2 : tensor<2x4x4xf32>, tensor<1x4x4xf32>
  }

  // CHECK-LABEL: func.func @returned
  // CHECK-NOT: view
  // CHECK: return
  func.func @returned(%x: tensor<2x4xf32>) -> tensor<4xf32> {
    %0 = dtc.slice %x axis 0 from 1 : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %1 = dtc.reshape %0 : (tensor<1x4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @part_overwritten
  // CHECK-NOT: view
  // CHECK: return
  func.func @part_overwritten(%x: tensor<2x4x4xf32>, %y: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
    %0 = dtc.slice %x axis 0 from 0 : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
    %1 = dtc.matmul %0, %0 : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    %2 = dtc.accumulate %1 into %0 : tensor<1x4x4xf32>
    %3 = dtc.matmul %2, %y : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    return %3 : tensor<1x4x4xf32>
  }

  // CHECK-LABEL: func.func @whole_overwritten
  // CHECK-NOT: view
  // CHECK: return
  func.func @whole_overwritten(%x: tensor<2x4x4xf32> {dtc.update = 1 : i64}, %y: tensor<2x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<2x4x4xf32>) {
    %0 = dtc.slice %x axis 0 from 0 : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
    %1 = dtc.matmul %y, %y : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %2 = dtc.accumulate %1 into %x : tensor<2x4x4xf32>
    %3 = dtc.matmul %0, %0 : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    return %3, %2 : tensor<1x4x4xf32>, tensor<2x4x4xf32>
  }

  // CHECK-LABEL: func.func @in_pieces
  // CHECK-NOT: view
  // CHECK: return
  func.func @in_pieces(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
    %0 = dtc.slice %x axis 1 from 4 : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %1 = dtc.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }

  // CHECK-LABEL: func.func @between_bytes
  // CHECK-NOT: view
  // CHECK: return
  func.func @between_bytes(%x: tensor<4x3xf32>) -> tensor<1x1xf32> {
    %0 = dtc.slice %x axis 0 from 1 : (tensor<4x3xf32>) -> tensor<1x3xf32>
    %1 = dtc.matmul %0, %0 {transpose_rhs} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x1xf32>
    return %1 : tensor<1x1xf32>
  }
}
}
