// RUN: dtc-opt --dtc-bound-masks --canonicalize %s | FileCheck %s

// Layers share a mask. Queries that see no key have lse about -60000.
// CHECK-LABEL: func.func @mask
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x4x8xf32>, %[[M:.*]]: tensor<2x1x1x5xf32>
// CHECK: %[[HIDDEN:.*]] = dtc.constant dense<-6.000000e+04>
// CHECK: %[[B:.*]] = dtc.maximum %[[M]], %[[HIDDEN]]
// CHECK: %[[R:[^ ,]*]], %[[LSE:[^ ]*]] = dtc.attention %[[Q]], %{{.*}}, %{{.*}}, %[[B]] {
// CHECK: %[[SEEN:.*]] = dtc.constant dense<-3.000000e+04>
// CHECK: %[[C:.*]] = dtc.compare gt %[[LSE]], %[[SEEN]]
// CHECK: %[[T:.*]] = dtc.transpose %[[C]] [0, 2, 1] : (tensor<2x4x3xi1>) -> tensor<2x3x4xi1>
// CHECK: %[[E:.*]] = dtc.reshape %[[T]] : (tensor<2x3x4xi1>) -> tensor<2x3x4x1xi1>
// CHECK: %[[ZERO:.*]] = dtc.constant dense<0.000000e+00>
// CHECK: %[[O:.*]] = dtc.select %[[E]], %[[R]], %[[ZERO]]
// CHECK: dtc.attention %[[O]], %{{.*}}, %{{.*}}, %[[B]] {
func.func @mask(%q: tensor<2x3x4x8xf32>, %m: tensor<2x1x1x5xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %0, %l0 = dtc.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x1x1x5xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x4x3xf32>)
  %1, %l1 = dtc.attention %0, %k, %v, %m {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x1x1x5xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x4x3xf32>)
  return %1 : tensor<2x3x4x8xf32>
}

// Each query is known to see a key: nothing tests it.
// CHECK-LABEL: func.func @constant
// CHECK: dtc.constant dense<{{\[\[\[\[}}0.000000e+00, -6.000000e+04], [-6.000000e+04, -1.000000e+04]]]]>
// CHECK-NEXT: %[[R:[^ ,]*]], %{{.*}} = dtc.attention
// CHECK-NEXT: return %[[R]]
func.func @constant(%q: tensor<1x2x1x8xf32>) -> tensor<1x2x1x8xf32> {
  %m = dtc.constant dense<[[[[0.0, 0xFF800000], [0xFF800000, -1.0e+4]]]]> : tensor<1x1x2x2xf32> to tensor<1x1x2x2xf32>
  %0, %l = dtc.attention %q, %q, %q, %m {scale = 1.0 : f64} : (tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x1x2x2xf32>) -> (tensor<1x2x1x8xf32>, tensor<1x1x2xf32>)
  return %0 : tensor<1x2x1x8xf32>
}

// The second of two heads hides all keys of the first query.
// CHECK-LABEL: func.func @hidden
// CHECK: dtc.attention
// CHECK: dtc.select
func.func @hidden(%q: tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32> {
  %m = dtc.constant dense<[[[[0.0, 0xFF800000], [0xFF800000, 1.0]], [[0xFF800000, 0xFF800000], [0.0, 0.0]]]]> : tensor<1x2x2x2xf32> to tensor<1x2x2x2xf32>
  %0, %l = dtc.attention %q, %q, %q, %m {scale = 1.0 : f64} : (tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x2xf32>) -> (tensor<1x2x2x8xf32>, tensor<1x2x2xf32>)
  return %0 : tensor<1x2x2x8xf32>
}

// The only key that the mask leaves the first query comes later.
// CHECK-LABEL: func.func @causal
// CHECK: dtc.attention
// CHECK: dtc.select
func.func @causal(%q: tensor<1x2x1x8xf32>) -> tensor<1x2x1x8xf32> {
  %m = dtc.constant dense<[[[[0xFF800000, 0.0]]]]> : tensor<1x1x1x2xf32> to tensor<1x1x1x2xf32>
  %0, %l = dtc.attention %q, %q, %q, %m {causal, scale = 1.0 : f64} : (tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x1x1x2xf32>) -> (tensor<1x2x1x8xf32>, tensor<1x1x2xf32>)
  return %0 : tensor<1x2x1x8xf32>
}

// CHECK-LABEL: func.func @none
// CHECK-NOT: dtc.maximum
// CHECK: return
func.func @none(%q: tensor<1x2x1x8xf32>) -> tensor<1x2x1x8xf32> {
  %0, %l = dtc.attention %q, %q, %q {causal, scale = 1.0 : f64} : (tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>) -> (tensor<1x2x1x8xf32>, tensor<1x1x2xf32>)
  return %0 : tensor<1x2x1x8xf32>
}

// Products of blocks need no finite mask.
// CHECK-LABEL: func.func @divided
// CHECK-NOT: dtc.maximum
// CHECK: dtc.attention {{.*}}divided
// CHECK-NOT: dtc.select
// CHECK: return
func.func @divided(%q: tensor<1x2x2x8xf32>, %m: tensor<1x1x2x2xf32>) -> tensor<1x2x2x8xf32> {
  %0, %l = dtc.attention %q, %q, %q, %m {divided, scale = 1.0 : f64} : (tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x1x2x2xf32>) -> (tensor<1x2x2x8xf32>, tensor<1x2x2xf32>)
  return %0 : tensor<1x2x2x8xf32>
}
