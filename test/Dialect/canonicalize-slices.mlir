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

// The same for slices. There are two dimensions of size 1. The batch, the first
// of the transpose, stays.
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

// A transpose may disappear: a convolution of one channel along the channels of
// an image, as in efficient channel attention.
// CHECK-LABEL: func @forward(%arg0: tensor<2x1x6x1xf32>
// CHECK-NEXT: %[[R:.*]] = dtc.reshape %arg0 : (tensor<2x1x6x1xf32>) -> tensor<2x1x6xf32>
// CHECK-NEXT: dtc.sigmoid %[[R]]
func.func @forward(%x: tensor<2x1x6x1xf32>) -> tensor<2x1x6xf32> {
  %0 = dtc.transpose %x [0, 3, 1, 2] : (tensor<2x1x6x1xf32>) -> tensor<2x1x1x6xf32>
  %1 = dtc.reshape %0 : (tensor<2x1x1x6xf32>) -> tensor<2x1x6xf32>
  %2 = dtc.sigmoid %1 : (tensor<2x1x6xf32>) -> tensor<2x1x6xf32>
  return %2 : tensor<2x1x6xf32>
}

// -----

// Slices that have all of a value are a split, in any order, one taken twice.
// Those that leave something out, or overlap, stay.
// CHECK-LABEL: func @forward(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<4x6xf32>)
// CHECK-NEXT: %[[P:.*]]:3 = dtc.split %arg0 axis 1 : (tensor<4x6xf32>) -> (tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x3xf32>)
// CHECK-NEXT: %[[A:.*]] = dtc.slice %arg1 axis 1 from 0
// CHECK-NEXT: %[[B:.*]] = dtc.slice %arg1 axis 1 from 4
// CHECK-NEXT: %[[C:.*]] = dtc.slice %arg2 axis 1 from 0
// CHECK-NEXT: %[[D:.*]] = dtc.slice %arg2 axis 1 from 2
// CHECK-NEXT: return %[[P]]#2, %[[P]]#2, %[[P]]#0, %[[P]]#1, %[[A]], %[[B]], %[[C]], %[[D]]
func.func @forward(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>, %z: tensor<4x6xf32>)
    -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x4xf32>) {
  %again = dtc.slice %x axis 1 from 3 : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %0 = dtc.slice %x axis 1 from 3 : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %1 = dtc.slice %x axis 1 from 0 : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %2 = dtc.slice %x axis 1 from 1 : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %3 = dtc.slice %y axis 1 from 0 : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %4 = dtc.slice %y axis 1 from 4 : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %5 = dtc.slice %z axis 1 from 0 : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %6 = dtc.slice %z axis 1 from 2 : (tensor<4x6xf32>) -> tensor<4x4xf32>
  return %again, %0, %1, %2, %3, %4, %5, %6 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x4xf32>
}

// -----

// More than a few are steps of a loop.
// CHECK-LABEL: func @forward(%arg0: tensor<9xf32>)
// CHECK-COUNT-9: dtc.slice
func.func @forward(%x: tensor<9xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
  %0 = dtc.slice %x axis 0 from 0 : (tensor<9xf32>) -> tensor<1xf32>
  %1 = dtc.slice %x axis 0 from 1 : (tensor<9xf32>) -> tensor<1xf32>
  %2 = dtc.slice %x axis 0 from 2 : (tensor<9xf32>) -> tensor<1xf32>
  %3 = dtc.slice %x axis 0 from 3 : (tensor<9xf32>) -> tensor<1xf32>
  %4 = dtc.slice %x axis 0 from 4 : (tensor<9xf32>) -> tensor<1xf32>
  %5 = dtc.slice %x axis 0 from 5 : (tensor<9xf32>) -> tensor<1xf32>
  %6 = dtc.slice %x axis 0 from 6 : (tensor<9xf32>) -> tensor<1xf32>
  %7 = dtc.slice %x axis 0 from 7 : (tensor<9xf32>) -> tensor<1xf32>
  %8 = dtc.slice %x axis 0 from 8 : (tensor<9xf32>) -> tensor<1xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
}
