// RUN: dtc-opt %s --canonicalize --split-input-file | FileCheck %s

// A bias of zeros, and other ops that leave a value as it is.
// CHECK-LABEL: func @forward
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg1
func.func @forward(%x: tensor<4x6xf32>, %i: tensor<4xi64>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4xi64>) {
  %zero = dtc.constant dense<0.0> : tensor<1xf32> to tensor<1xf32>
  %zeros = dtc.constant dense<0.0> : tensor<6xf32> to tensor<6xf32>
  %one = dtc.constant dense<1.0> : tensor<f32> to tensor<f32>
  %none = dtc.constant dense<0> : tensor<i64> to tensor<i64>
  %0 = dtc.add %x, %zero : (tensor<4x6xf32>, tensor<1xf32>) -> tensor<4x6xf32>
  %1 = dtc.sub %x, %zeros : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %2 = dtc.mul %one, %x : (tensor<f32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = dtc.div %x, %one : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %4 = dtc.add %none, %i : (tensor<i64>, tensor<4xi64>) -> tensor<4xi64>
  return %0, %1, %2, %3, %4 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4xi64>
}

// -----

// Ops that change a value or its shape stay.
// CHECK-LABEL: func @forward
// CHECK: dtc.add
// CHECK: dtc.sub
// CHECK: dtc.div
// CHECK: dtc.add
// CHECK: dtc.add
func.func @forward(%x: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %zeros = dtc.constant dense<0.0> : tensor<4x6xf32> to tensor<4x6xf32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %one = dtc.constant dense<1.0> : tensor<f32> to tensor<f32>
  %mixed = dtc.constant dense<[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]> : tensor<6xf32> to tensor<6xf32>
  %0 = dtc.add %x, %zeros : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = dtc.sub %zero, %x : (tensor<f32>, tensor<6xf32>) -> tensor<6xf32>
  %2 = dtc.div %one, %x : (tensor<f32>, tensor<6xf32>) -> tensor<6xf32>
  %3 = dtc.add %x, %one : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %4 = dtc.add %x, %mixed : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %0, %1, %2, %3, %4 : tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
