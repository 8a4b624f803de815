// RUN: dtc-opt --dtc-guard-softmax --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @guarded
// CHECK: %[[M:.*]] = dtc.reduce_max %arg0 axes [1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK: %[[INF:.*]] = dtc.constant dense<0xFF800000>
// CHECK: %[[S:.*]] = dtc.compare gt %[[M]], %[[INF]]
// CHECK: %[[ZERO:.*]] = dtc.constant dense<0.000000e+00>
// CHECK: %[[R:.*]] = dtc.select %[[S]], %arg0, %[[ZERO]]
// CHECK: %[[P:.*]] = dtc.softmax %[[R]]
// CHECK: %[[Y:.*]] = dtc.select %[[S]], %[[P]], %[[ZERO]]
// CHECK: return %[[Y]]
func.func @guarded(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %p = dtc.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = dtc.compare ne %p, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %y = dtc.select %n, %zero, %p : (tensor<4x8xi1>, tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Another number in place of NaN stays.
// CHECK-LABEL: func.func @other
// CHECK-NOT: dtc.reduce_max
// CHECK: return
func.func @other(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = dtc.constant dense<1.0> : tensor<f32> to tensor<f32>
  %p = dtc.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = dtc.compare ne %p, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %y = dtc.select %n, %one, %p : (tensor<4x8xi1>, tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
