// RUN: dtc-opt %s --dtc-insert-boundaries --split-input-file | FileCheck %s --implicit-check-not=dtc.stage

// A value that skips a stage is relayed through it.

// CHECK-LABEL: module @relay
// CHECK: %[[A:.+]] = dtc.add
// CHECK: %[[A1:.+]] = dtc.boundary %[[A]] from 0 to 1
// CHECK-NEXT: %[[B:.+]] = dtc.relu %[[A1]]
// CHECK-DAG: %[[B2:.+]] = dtc.boundary %[[B]] from 1 to 2
// CHECK-DAG: %[[A2:.+]] = dtc.boundary %[[A1]] from 1 to 2
// CHECK: dtc.mul %[[A2]], %[[B2]]
// CHECK-NEXT: dtc.exp
// CHECK-NEXT: return
module @relay {
  func.func @forward(%x: tensor<4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
    %a = dtc.add %x, %w {dtc.stage = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = dtc.relu %a {dtc.stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %c = dtc.mul %a, %b {dtc.stage = 2 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = dtc.exp %c {dtc.stage = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %d : tensor<4xf32>
  }
}

// -----

// A stage that only hands a value on.

// CHECK-LABEL: module @skip
// CHECK: %[[A:.+]] = dtc.add
// CHECK-NEXT: %[[A1:.+]] = dtc.boundary %[[A]] from 0 to 1
// CHECK-NEXT: %[[A2:.+]] = dtc.boundary %[[A1]] from 1 to 2
// CHECK-NEXT: dtc.relu %[[A2]]
module @skip {
  func.func @forward(%x: tensor<4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
    %a = dtc.add %x, %w {dtc.stage = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = dtc.relu %a {dtc.stage = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %b : tensor<4xf32>
  }
}

// -----

// A tied embedding crosses directly from its owner, the first stage that uses
// it. The mask, which depends on an input alone, is used where it is needed.

// CHECK-LABEL: module @tied
// CHECK: %[[MASK:.+]] = dtc.reshape
// CHECK: dtc.boundary {{.*}} from 0 to 1 : tensor<2x4xf32>
// CHECK-NEXT: dtc.mul %{{.+}}, %[[MASK]]
// CHECK-DAG: dtc.boundary {{.*}} from 1 to 2 : tensor<2x4xf32>
// CHECK-DAG: %[[W2:.+]] = dtc.boundary %arg1 from 0 to 2 : tensor<8x4xf32>
// CHECK: %[[Y:.+]] = dtc.matmul %{{.+}}, %[[W2]]
// CHECK-NOT: dtc.boundary
// CHECK: dtc.mul %[[Y]], %[[MASK]]
module @tied {
  func.func @forward(%i: tensor<2xi64> {dtc.input = "i"}, %w: tensor<8x4xf32> {dtc.parameter = "w"}) -> (tensor<2x8xf32> {dtc.output = "y"}) {
    %f = dtc.cast %i : (tensor<2xi64>) -> tensor<2xf32>
    %m = dtc.reshape %f : (tensor<2xf32>) -> tensor<2x1xf32>
    %a = dtc.gather %w, %i {dtc.stage = 0 : i64} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
    %b = dtc.mul %a, %m {dtc.stage = 1 : i64} : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    %y = dtc.matmul %b, %w {dtc.stage = 2 : i64, transpose_rhs} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    %z = dtc.mul %y, %m {dtc.stage = 2 : i64} : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
    return %z : tensor<2x8xf32>
  }
}
