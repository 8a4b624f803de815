// RUN: dtc-opt --dtc-form-attention="max-width=16 width-multiple=8" %s | FileCheck %s

// Attention that a target's runtime does not compute is divided.

// CHECK-LABEL: func.func @plain
// CHECK: dtc.attention %{{.*}} {scale =
func.func @plain(%q: tensor<2x4x3x16xf32>, %k: tensor<2x4x3x16xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x4x3x16xf32>, tensor<2x4x3x16xf32>) -> tensor<2x4x3x3xf32>
  %p = dtc.softmax %s : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %o = dtc.matmul %p, %v : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func.func @masked
// CHECK: dtc.attention {{.*}} : (tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x1x2x2xf32>)
func.func @masked(%q: tensor<1x1x2x8xf32>, %k: tensor<1x1x2x8xf32>, %v: tensor<1x1x2x8xf32>, %m: tensor<2x2xf32>) -> tensor<1x1x2x8xf32> {
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>) -> tensor<1x1x2x2xf32>
  %t = dtc.add %s, %m : (tensor<1x1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x1x2x2xf32>
  %p = dtc.softmax %t : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %o = dtc.matmul %p, %v : (tensor<1x1x2x2xf32>, tensor<1x1x2x8xf32>) -> tensor<1x1x2x8xf32>
  return %o : tensor<1x1x2x8xf32>
}

// CHECK-LABEL: func.func @wide
// CHECK: dtc.attention %{{.*}} {divided, scale =
func.func @wide(%q: tensor<2x4x3x24xf32>, %k: tensor<2x4x3x24xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x4x3x24xf32>, tensor<2x4x3x24xf32>) -> tensor<2x4x3x3xf32>
  %p = dtc.softmax %s : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %o = dtc.matmul %p, %v : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func.func @odd
// CHECK: dtc.attention %{{.*}} {divided, scale =
func.func @odd(%q: tensor<2x4x3x12xf32>, %k: tensor<2x4x3x12xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x4x3x12xf32>, tensor<2x4x3x12xf32>) -> tensor<2x4x3x3xf32>
  %p = dtc.softmax %s : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %o = dtc.matmul %p, %v : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}
