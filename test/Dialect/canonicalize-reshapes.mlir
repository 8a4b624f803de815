// RUN: dtc-opt %s --canonicalize=top-down=false --split-input-file | FileCheck %s

// A bias is added after the sequence is restored.
// CHECK-LABEL: func @forward(%arg0: tensor<64x8xf32>, %arg1: tensor<8xf32>
// CHECK-NEXT: %[[X:.*]] = dtc.reshape %arg0 : (tensor<64x8xf32>) -> tensor<4x16x8xf32>
// CHECK-NEXT: %[[Y:.*]] = dtc.add %[[X]], %arg1 : (tensor<4x16x8xf32>, tensor<8xf32>) -> tensor<4x16x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @forward(%x: tensor<64x8xf32>, %bias: tensor<8xf32>) -> tensor<4x16x8xf32> {
  %0 = dtc.add %x, %bias : (tensor<64x8xf32>, tensor<8xf32>) -> tensor<64x8xf32>
  %1 = dtc.reshape %0 : (tensor<64x8xf32>) -> tensor<4x16x8xf32>
  return %1 : tensor<4x16x8xf32>
}

// -----

// There and back is nothing, through what lies between.
// CHECK-LABEL: func @forward
// CHECK-NEXT: %[[Y:.*]] = dtc.relu %arg0 : (tensor<64x8xf32>) -> tensor<64x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @forward(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = dtc.reshape %x : (tensor<64x8xf32>) -> tensor<4x16x8xf32>
  %1 = dtc.relu %0 : (tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %2 = dtc.reshape %1 : (tensor<4x16x8xf32>) -> tensor<64x8xf32>
  return %2 : tensor<64x8xf32>
}

// -----

// The bias has a dimension that the reshape changes, and the row sums are no
// elementwise op: both stay.
// CHECK-LABEL: func @forward
// CHECK-NEXT: dtc.add %arg0, %arg1 {{.*}} -> tensor<64x8xf32>
// CHECK-NEXT: dtc.reshape
// CHECK-NEXT: dtc.softmax %arg0
// CHECK-NEXT: dtc.reshape
func.func @forward(%x: tensor<64x8xf32>, %bias: tensor<64x1xf32>) -> (tensor<4x16x8xf32>, tensor<512xf32>) {
  %0 = dtc.add %x, %bias : (tensor<64x8xf32>, tensor<64x1xf32>) -> tensor<64x8xf32>
  %1 = dtc.reshape %0 : (tensor<64x8xf32>) -> tensor<4x16x8xf32>
  %2 = dtc.softmax %x : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %3 = dtc.reshape %2 : (tensor<64x8xf32>) -> tensor<512xf32>
  return %1, %3 : tensor<4x16x8xf32>, tensor<512xf32>
}

// -----

// Both operands broadcast: no operand has the shape of the result, so that the
// reshape stays. The operands of the select broadcast in pairs.
// CHECK-LABEL: func @forward
// CHECK-NEXT: dtc.add %arg0, %arg1 {{.*}} -> tensor<4x5xf32>
// CHECK-NEXT: dtc.reshape {{.*}} -> tensor<1x4x5xf32>
// CHECK-NEXT: dtc.mul %arg0, %arg1 {{.*}} -> tensor<4x5xf32>
// CHECK-NEXT: dtc.reshape {{.*}} -> tensor<4x5x1xf32>
// CHECK-NEXT: dtc.select %arg2, %arg0, %arg1 {{.*}} -> tensor<4x5xf32>
// CHECK-NEXT: dtc.reshape {{.*}} -> tensor<1x1x4x5xf32>
func.func @forward(%row: tensor<4x1xf32>, %column: tensor<1x5xf32>, %mask: tensor<5xi1>)
    -> (tensor<1x4x5xf32>, tensor<4x5x1xf32>, tensor<1x1x4x5xf32>) {
  %0 = dtc.add %row, %column : (tensor<4x1xf32>, tensor<1x5xf32>) -> tensor<4x5xf32>
  %1 = dtc.reshape %0 : (tensor<4x5xf32>) -> tensor<1x4x5xf32>
  %2 = dtc.mul %row, %column : (tensor<4x1xf32>, tensor<1x5xf32>) -> tensor<4x5xf32>
  %3 = dtc.reshape %2 : (tensor<4x5xf32>) -> tensor<4x5x1xf32>
  %4 = dtc.select %mask, %row, %column : (tensor<5xi1>, tensor<4x1xf32>, tensor<1x5xf32>) -> tensor<4x5xf32>
  %5 = dtc.reshape %4 : (tensor<4x5xf32>) -> tensor<1x1x4x5xf32>
  return %1, %3, %5 : tensor<1x4x5xf32>, tensor<4x5x1xf32>, tensor<1x1x4x5xf32>
}

// -----

// The shape of random numbers does not follow from seed and step.
// CHECK-LABEL: func @forward
// CHECK-NEXT: dtc.random_uniform {{.*}} -> tensor<f32>
// CHECK-NEXT: dtc.reshape {{.*}} -> tensor<1xf32>
func.func @forward(%seed: tensor<i64>, %step: tensor<f64>) -> tensor<1xf32> {
  %0 = dtc.random_uniform %seed, %step {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<f32>
  %1 = dtc.reshape %0 : (tensor<f32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// -----

// Somebody else needs the sum as it is.
// CHECK-LABEL: func @forward
// CHECK-NEXT: dtc.add {{.*}} -> tensor<64x8xf32>
func.func @forward(%x: tensor<64x8xf32>, %bias: tensor<8xf32>) -> (tensor<64x8xf32>, tensor<4x16x8xf32>) {
  %0 = dtc.add %x, %bias : (tensor<64x8xf32>, tensor<8xf32>) -> tensor<64x8xf32>
  %1 = dtc.reshape %0 : (tensor<64x8xf32>) -> tensor<4x16x8xf32>
  return %0, %1 : tensor<64x8xf32>, tensor<4x16x8xf32>
}

// -----

// A transpose moves elements, also where no size shows it.
// CHECK-LABEL: func @forward
// CHECK-NEXT: dtc.transpose %arg0 [1, 0, 2]
// CHECK-NEXT: dtc.reshape
func.func @forward(%x: tensor<4x4x6xf32>) -> tensor<2x2x24xf32> {
  %0 = dtc.transpose %x [1, 0, 2] : (tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
  %1 = dtc.reshape %0 : (tensor<4x4x6xf32>) -> tensor<2x2x24xf32>
  return %1 : tensor<2x2x24xf32>
}

// -----

// A transpose that changes nothing is no elementwise op.
// CHECK-LABEL: func @forward(%arg0: tensor<2x6xf32>
// CHECK-NEXT: %[[T:.*]] = dtc.transpose %arg0 [0, 1]
// CHECK-NEXT: dtc.reshape %[[T]] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
func.func @forward(%x: tensor<2x6xf32>) -> tensor<2x6x1xf32> {
  %0 = dtc.transpose %x [0, 1] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %1 = dtc.reshape %0 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
  return %1 : tensor<2x6x1xf32>
}

// -----

// A reshape to the same shape.
// CHECK-LABEL: func @forward
// CHECK-NEXT: return %arg0
func.func @forward(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = dtc.reshape %x : (tensor<64x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
