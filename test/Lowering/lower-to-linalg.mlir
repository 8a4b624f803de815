// RUN: dtc-opt %s --dtc-lower-to-linalg --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @bias_relu
// CHECK: %[[Z:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: arith.cmpf olt
// CHECK: arith.select
// CHECK-NOT: dtc.
func.func @bias_relu(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> attributes {dtc.kernel} {
  %0 = dtc.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = dtc.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.maxnumf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: arith.divf
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {dtc.kernel} {
  %0 = dtc.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// The target's column is found by comparing numbers of columns.
// CHECK-LABEL: func.func @cross_entropy
// CHECK: linalg.index 1
// CHECK: arith.cmpi eq
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]
// CHECK: arith.addf %{{.*}}, %{{.*}} : f64
func.func @cross_entropy(%z: tensor<4x8xf32>, %t: tensor<4xi64>) -> tensor<f64> attributes {dtc.kernel} {
  %0 = dtc.cross_entropy %z, %t : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f64>
  return %0 : tensor<f64>
}

// An update writes to what it overwrites.
// CHECK-LABEL: func.func @accumulate
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[A:.*]]: tensor<8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<8xf32>) outs(%[[A]] : tensor<8xf32>)
func.func @accumulate(%x: tensor<8xf32>, %a: tensor<8xf32> {dtc.update = 0 : i64}) -> tensor<8xf32> attributes {dtc.kernel} {
  %0 = dtc.accumulate %x into %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @ranges
// CHECK: tensor.extract_slice %{{.*}}[0, 2] [4, 3] [1, 1]
// CHECK: tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<4x1xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
func.func @ranges(%x: tensor<4x8xf32>) -> tensor<4x4xf32> attributes {dtc.kernel} {
  %0 = dtc.slice %x axis 1 from 2 : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = dtc.pad %0 axis 1 at 1 : (tensor<4x3xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @gather
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: tensor.extract %{{.*}}[%[[I]], %[[J]]]
func.func @gather(%t: tensor<16x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> attributes {dtc.kernel} {
  %0 = dtc.gather %t, %i : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Only kernels are lowered.
// CHECK-LABEL: func.func @stage
// CHECK: dtc.relu
func.func @stage(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = dtc.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A kernel widens what it reads and rounds every result of a narrow op, also if
// it does not store it; a table that rows are looked up in stays as it is.
// CHECK-LABEL: @narrow
// CHECK-SAME: (%[[TABLE:[^:]+]]: tensor<16x8xbf16>, %[[I:[^:]+]]: tensor<4xi64>, %[[X:[^:]+]]: tensor<4x8xbf16>)
// CHECK: tensor.extract %[[TABLE]]
// CHECK: arith.extf %{{.+}} : bf16 to f32
// CHECK: arith.extf %{{.+}} : bf16 to f32
// CHECK: arith.addf %{{.+}} : f32
// CHECK: arith.truncf %{{.+}} : f32 to bf16
// CHECK: arith.extf %{{.+}} : bf16 to f32
// CHECK: math.exp %{{.+}} : f32
// CHECK: arith.truncf %{{.+}} : f32 to bf16
// CHECK-NOT: arith.
// CHECK: return
func.func @narrow(%table: tensor<16x8xbf16>, %i: tensor<4xi64>, %x: tensor<4x8xbf16>) -> tensor<4x8xbf16> attributes {dtc.kernel} {
  %0 = dtc.gather %table, %i : (tensor<16x8xbf16>, tensor<4xi64>) -> tensor<4x8xbf16>
  %1 = dtc.add %0, %x : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %2 = dtc.exp %1 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %2 : tensor<4x8xbf16>
}

// A kernel rounds a value that it stores and reads once. Ops that move or
// select narrow elements do not round, nor do results of f32.
// CHECK-LABEL: func.func @rounded
// CHECK: arith.addf
// CHECK: %[[N:.+]] = linalg.generic
// CHECK: arith.truncf %{{.+}} : f32 to bf16
// CHECK: arith.extf %{{.+}} : bf16 to f32
// CHECK-NOT: arith.truncf
// CHECK: return %[[N]],
func.func @rounded(%x: tensor<4x8xbf16>, %y: tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4x1xf32>, tensor<4x8xf32>) attributes {dtc.kernel} {
  %0 = dtc.add %x, %y : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %1 = dtc.relu %0 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %2 = dtc.maximum %1, %x : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %3 = dtc.reduce_max %2 axes [1] : (tensor<4x8xbf16>) -> tensor<4x1xf32>
  %4 = dtc.exp %0 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  return %0, %3, %4 : tensor<4x8xbf16>, tensor<4x1xf32>, tensor<4x8xf32>
}
