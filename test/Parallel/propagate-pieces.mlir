// RUN: dtc-opt %s --dtc-assign-mesh="dp=2 tp=2" --dtc-propagate-layouts --split-input-file | FileCheck %s

// A dimension of groups, the major part, and of the batch. tp splits the
// groups: the batch is split in pieces of the groups that a rank has.
// CHECK: #[[PIECES:.*]] = #dtc.layout<#mesh, mb: split(1), dp: split(1 in 2)>
// CHECK: #[[BOTH:.*]] = #dtc.layout<#mesh, mb: split(1), tp: split(1), dp: split(1)>
// CHECK-LABEL: func @step
// CHECK: %[[M:.*]] = dtc.reshape {{.*}} -> tensor<6x16x4xf32, #[[PIECES]]>
// CHECK: dtc.reshard %[[M]] : tensor<6x16x4xf32, #[[PIECES]]> -> tensor<6x16x4xf32, #[[BOTH]]>
func.func @step(%x: tensor<8x6x2x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<4xf32> {dtc.parameter = "w"}) -> tensor<6x16x4xf32> {
  %0 = dtc.transpose %x [1, 2, 0, 3] : (tensor<8x6x2x4xf32>) -> tensor<6x2x8x4xf32>
  %1 = dtc.reshape %0 {dtc.split_dims = {tp = 1}} : (tensor<6x2x8x4xf32>) -> tensor<6x16x4xf32>
  %2 = dtc.mul %1, %w : (tensor<6x16x4xf32>, tensor<4xf32>) -> tensor<6x16x4xf32>
  return %2 : tensor<6x16x4xf32>
}

// -----

// Three groups cannot be split over two ranks: the value stays whole.
// CHECK-LABEL: func @step
// CHECK: %[[M:.*]] = dtc.reshape
// CHECK-NEXT: dtc.mul %[[M]], %arg1
func.func @step(%x: tensor<8x6x3x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<4xf32> {dtc.parameter = "w"}) -> tensor<6x24x4xf32> {
  %0 = dtc.transpose %x [1, 2, 0, 3] : (tensor<8x6x3x4xf32>) -> tensor<6x3x8x4xf32>
  %1 = dtc.reshape %0 {dtc.split_dims = {tp = 1}} : (tensor<6x3x8x4xf32>) -> tensor<6x24x4xf32>
  %2 = dtc.mul %1, %w : (tensor<6x24x4xf32>, tensor<4xf32>) -> tensor<6x24x4xf32>
  return %2 : tensor<6x24x4xf32>
}

// -----

// A product that needs the sequence whole leaves pieces of it, not of the part
// that a rank had.
// CHECK: #[[WHOLE:.*]] = #dtc.layout<#mesh, mb: split(0), dp: split(0 in 6)>
// CHECK: #[[PART:.*]] = #dtc.layout<#mesh, mb: split(0), tp: split(0), dp: split(0 in 3)>
// CHECK-LABEL: func @step
// CHECK: %[[R:.*]] = dtc.reshard {{.*}} : tensor<48x4xf32, #[[PART]]> -> tensor<48x4xf32, #[[WHOLE]]>
// CHECK: dtc.matmul %[[R]], %arg1
func.func @step(%x: tensor<8x6x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<4x6xf32> {dtc.parameter = "w", dtc.split_dims = {tp = 1}}) -> tensor<48x6xf32> {
  %0 = dtc.transpose %x [1, 0, 2] {dtc.split_dims = {tp = 0}} : (tensor<8x6x4xf32>) -> tensor<6x8x4xf32>
  %1 = dtc.reshape %0 : (tensor<6x8x4xf32>) -> tensor<48x4xf32>
  %2 = dtc.matmul %1, %w : (tensor<48x4xf32>, tensor<4x6xf32>) -> tensor<48x6xf32>
  return %2 : tensor<48x6xf32>
}

// -----

// A slice of the sequence needs that whole, and leaves the batch as it is.
// CHECK-LABEL: func @step
// CHECK: %[[R:.*]] = dtc.reshard {{.*}} : tensor<6x8x4xf32, #{{.*}}> -> tensor<6x8x4xf32, #mb1_dp1>
// CHECK-NEXT: dtc.slice %[[R]] axis 0
func.func @step(%x: tensor<8x6x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<4xf32> {dtc.parameter = "w"}) -> tensor<5x8x4xf32> {
  %0 = dtc.transpose %x [1, 0, 2] {dtc.split_dims = {tp = 0}} : (tensor<8x6x4xf32>) -> tensor<6x8x4xf32>
  %1 = dtc.slice %0 axis 0 from 1 : (tensor<6x8x4xf32>) -> tensor<5x8x4xf32>
  %2 = dtc.mul %1, %w : (tensor<5x8x4xf32>, tensor<4xf32>) -> tensor<5x8x4xf32>
  return %2 : tensor<5x8x4xf32>
}
