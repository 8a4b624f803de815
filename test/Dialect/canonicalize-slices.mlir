// RUN: dtc-opt %s --canonicalize=top-down=false --split-input-file | FileCheck %s

// Queries, keys and values are taken apart before they are transposed, and lose
// their dimension of size 1 there.
// CHECK-LABEL: func @forward(%arg0: tensor<4x6x3x2x5xf32>
// CHECK: %[[P:.*]]:3 = dtc.split %arg0 axis 2 : (tensor<4x6x3x2x5xf32>) -> (tensor<4x6x1x2x5xf32>, tensor<4x6x1x2x5xf32>, tensor<4x6x1x2x5xf32>)
// CHECK-DAG: %[[Q:.*]] = dtc.reshape %[[P]]#0 : (tensor<4x6x1x2x5xf32>) -> tensor<4x6x2x5xf32>
// CHECK-DAG: %[[R:.*]] = dtc.transpose %[[Q]] [0, 2, 1, 3] : (tensor<4x6x2x5xf32>) -> tensor<4x2x6x5xf32>
// CHECK-DAG: %[[S:.*]] = dtc.transpose %[[P]]#1 [2, 0, 3, 1, 4] : (tensor<4x6x1x2x5xf32>) -> tensor<1x4x2x6x5xf32>
// CHECK: return %[[R]], %[[S]]
func.func @forward(%x: tensor<4x6x3x2x5xf32>) -> (tensor<4x2x6x5xf32>, tensor<1x4x2x6x5xf32>) {
  %0 = dtc.transpose %x [2, 0, 3, 1, 4] : (tensor<4x6x3x2x5xf32>) -> tensor<3x4x2x6x5xf32>
  %1:3 = dtc.split %0 axis 0 : (tensor<3x4x2x6x5xf32>) -> (tensor<1x4x2x6x5xf32>, tensor<1x4x2x6x5xf32>, tensor<1x4x2x6x5xf32>)
  %2 = dtc.reshape %1#0 : (tensor<1x4x2x6x5xf32>) -> tensor<4x2x6x5xf32>
  return %2, %1#1 : tensor<4x2x6x5xf32>, tensor<1x4x2x6x5xf32>
}

// -----

// Slices likewise. Of two dimensions of size 1 it is not the batch, first in
// what is transposed, that goes.
// CHECK-LABEL: func @forward(%arg0: tensor<1x6x3x2xf32>
// CHECK: %[[A:.*]] = dtc.slice %arg0 axis 2 from 1 : (tensor<1x6x3x2xf32>) -> tensor<1x6x1x2xf32>
// CHECK: %[[B:.*]] = dtc.reshape %[[A]] : (tensor<1x6x1x2xf32>) -> tensor<1x6x2xf32>
// CHECK: %[[C:.*]] = dtc.transpose %[[B]] [0, 2, 1] : (tensor<1x6x2xf32>) -> tensor<1x2x6xf32>
// CHECK: return %[[C]]
func.func @forward(%x: tensor<1x6x3x2xf32>) -> tensor<1x2x6xf32> {
  %0 = dtc.transpose %x [0, 2, 3, 1] : (tensor<1x6x3x2xf32>) -> tensor<1x3x2x6xf32>
  %1 = dtc.slice %0 axis 1 from 1 : (tensor<1x3x2x6xf32>) -> tensor<1x1x2x6xf32>
  %2 = dtc.reshape %1 : (tensor<1x1x2x6xf32>) -> tensor<1x2x6xf32>
  return %2 : tensor<1x2x6xf32>
}

// -----

// A transpose that is needed as a whole stays, and so does a reshape that does
// more.
// CHECK-LABEL: func @forward(%arg0: tensor<4x6xf32>
// CHECK: %[[T:.*]] = dtc.transpose %arg0
// CHECK: dtc.slice %[[T]]
// CHECK: dtc.reshape %[[T]]
func.func @forward(%x: tensor<4x6xf32>) -> (tensor<1x4xf32>, tensor<24xf32>) {
  %0 = dtc.transpose %x [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = dtc.slice %0 axis 0 from 1 : (tensor<6x4xf32>) -> tensor<1x4xf32>
  %2 = dtc.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
  return %1, %2 : tensor<1x4xf32>, tensor<24xf32>
}

// -----

// What is left of a transpose may be none: a convolution of one channel along
// the channels of an image, as efficient channel attention has it.
// CHECK-LABEL: func @forward(%arg0: tensor<2x1x6x1xf32>
// CHECK-NEXT: %[[R:.*]] = dtc.reshape %arg0 : (tensor<2x1x6x1xf32>) -> tensor<2x1x6xf32>
// CHECK-NEXT: dtc.sigmoid %[[R]]
func.func @forward(%x: tensor<2x1x6x1xf32>) -> tensor<2x1x6xf32> {
  %0 = dtc.transpose %x [0, 3, 1, 2] : (tensor<2x1x6x1xf32>) -> tensor<2x1x1x6xf32>
  %1 = dtc.reshape %0 : (tensor<2x1x1x6xf32>) -> tensor<2x1x6xf32>
  %2 = dtc.sigmoid %1 : (tensor<2x1x6xf32>) -> tensor<2x1x6xf32>
  return %2 : tensor<2x1x6xf32>
}
