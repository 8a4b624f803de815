// RUN: dtc-opt %s --dtc-move-batch --split-input-file | FileCheck %s

// The batch of 4 ends up second, in front of what a sum over tokens leaves, and
// first, where a result stays.

// CHECK-LABEL: module @time_major
// CHECK-LABEL: func.func @forward(%{{.*}}: tensor<4x6xi64> {dtc.input = "x"}, %{{.*}}) -> (tensor<4x6x30xf32>, tensor<4x1x30xf32>, tensor<4x6xi64>) {
// CHECK:         %[[ROWS:.*]] = dtc.gather %{{.*}} -> tensor<6x4x30xf32>
// CHECK:         %[[SUM:.*]] = dtc.reduce_sum %[[ROWS]] axes [0] : (tensor<6x4x30xf32>) -> tensor<1x4x30xf32>
// CHECK:         %[[A:.*]] = dtc.transpose %[[ROWS]] [1, 0, 2] : (tensor<6x4x30xf32>) -> tensor<4x6x30xf32>
// CHECK:         %[[B:.*]] = dtc.transpose %[[SUM]] [1, 0, 2] : (tensor<1x4x30xf32>) -> tensor<4x1x30xf32>
// CHECK:         return %[[A]], %[[B]], %{{.*}}
module @time_major {
  func.func @forward(%x: tensor<4x6xi64> {dtc.input = "x"}, %w: tensor<30x30xf32> {dtc.parameter = "w"}) -> (tensor<6x4x30xf32>, tensor<1x4x30xf32>, tensor<4x6xi64>) {
    %t = dtc.transpose %x [1, 0] : (tensor<4x6xi64>) -> tensor<6x4xi64>
    %y = dtc.gather %w, %t : (tensor<30x30xf32>, tensor<6x4xi64>) -> tensor<6x4x30xf32>
    %s = dtc.reduce_sum %y axes [0] : (tensor<6x4x30xf32>) -> tensor<1x4x30xf32>
    return %y, %s, %x : tensor<6x4x30xf32>, tensor<1x4x30xf32>, tensor<4x6xi64>
  }
}

// -----

// As many tokens as samples: layouts tell them apart, sizes do not.

// CHECK-LABEL: module @square
// CHECK:         %[[Y:.*]] = dtc.relu
// CHECK:         %[[T:.*]] = dtc.transpose %[[Y]] [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK:         return %[[T]]
module @square {
  func.func @forward(%x: tensor<4x4xf32> {dtc.input = "x"}) -> tensor<4x4xf32> {
    %t = dtc.transpose %x [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = dtc.relu %t : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// Samples that are mixed, or a part of a dimension, stay where they are.

// CHECK-LABEL: module @mixed
// CHECK:         return %{{.*}} : tensor<6x6xf32>, tensor<24xf32>
module @mixed {
  func.func @forward(%x: tensor<4x6xf32> {dtc.input = "x"}) -> (tensor<6x6xf32>, tensor<24xf32>) {
    %y = dtc.matmul %x, %x {transpose_lhs} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
    %t = dtc.transpose %x [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %z = dtc.reshape %t : (tensor<6x4xf32>) -> tensor<24xf32>
    return %y, %z : tensor<6x6xf32>, tensor<24xf32>
  }
}

// -----

// All samples with all: the rows are the model's.

// CHECK-LABEL: module @pairs
// CHECK:         %[[P:.*]] = dtc.matmul
// CHECK:         %[[T:.*]] = dtc.transpose %[[P]] [1, 0]
// CHECK-NEXT:    return %[[T]]
module @pairs {
  func.func @forward(%x: tensor<4x6xf32> {dtc.input = "x"}, %y: tensor<4x6xf32> {dtc.input = "y"}) -> tensor<4x4xf32> {
    %p = dtc.matmul %x, %y {transpose_rhs} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
    %t = dtc.transpose %p [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %t : tensor<4x4xf32>
  }
}
