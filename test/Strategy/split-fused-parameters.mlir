// RUN: dtc-opt %s --dtc-split-fused-parameters=tp=2 --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-split-fused-parameters=tp=1 --split-input-file | FileCheck %s --check-prefix=WHOLE

// Weight and bias fall into the parts that the split takes, each where the
// tensor of the model has it.
// CHECK-LABEL: func @forward
// CHECK-SAME: %[[X:.*]]: tensor<2x8x4xf32> {dtc.input = "x"}
// CHECK-SAME: %[[W0:.*]]: tensor<4x4xf32> {dtc.parameter = "w/0", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 10>, start = 0 : i64, tensor = "w"}}
// CHECK-SAME: %[[W1:.*]]: tensor<4x6xf32> {dtc.parameter = "w/1", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 10>, start = 4 : i64, tensor = "w"}}
// CHECK-SAME: %[[B0:.*]]: tensor<4xf32> {dtc.parameter = "b/0", dtc.part = {dim = 0 : i64, shape = array<i64: 10>, start = 0 : i64, tensor = "b"}}
// CHECK-SAME: %[[B1:.*]]: tensor<6xf32> {dtc.parameter = "b/1"
// CHECK: %[[F:.*]] = dtc.reshape %[[X]]
// CHECK-DAG: %[[P0:.*]] = dtc.matmul %[[F]], %[[W0]] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
// CHECK-DAG: %[[P1:.*]] = dtc.matmul %[[F]], %[[W1]] : (tensor<16x4xf32>, tensor<4x6xf32>) -> tensor<16x6xf32>
// CHECK-DAG: %[[R0:.*]] = dtc.reshape %[[P0]] : (tensor<16x4xf32>) -> tensor<2x8x4xf32>
// CHECK-DAG: %[[R1:.*]] = dtc.reshape %[[P1]] : (tensor<16x6xf32>) -> tensor<2x8x6xf32>
// CHECK-DAG: %[[Q:.*]] = dtc.add %[[R0]], %[[B0]]
// CHECK-DAG: %[[K:.*]] = dtc.add %[[R1]], %[[B1]]
// CHECK: return %[[Q]], %[[K]]
// WHOLE-LABEL: func @forward
// WHOLE: dtc.split
func.func @forward(%x: tensor<2x8x4xf32> {dtc.input = "x"}, %w: tensor<4x10xf32> {dtc.parameter = "w"},
                   %b: tensor<10xf32> {dtc.parameter = "b"}) -> (tensor<2x8x4xf32>, tensor<2x8x6xf32>) {
  %0 = dtc.reshape %x : (tensor<2x8x4xf32>) -> tensor<16x4xf32>
  %1 = dtc.matmul %0, %w : (tensor<16x4xf32>, tensor<4x10xf32>) -> tensor<16x10xf32>
  %2 = dtc.reshape %1 : (tensor<16x10xf32>) -> tensor<2x8x10xf32>
  %3 = dtc.add %2, %b : (tensor<2x8x10xf32>, tensor<10xf32>) -> tensor<2x8x10xf32>
  %4:2 = dtc.split %3 axis 2 : (tensor<2x8x10xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x6xf32>)
  return %4#0, %4#1 : tensor<2x8x4xf32>, tensor<2x8x6xf32>
}

// -----

// The rows of a transposed weight.
// CHECK-LABEL: func @forward
// CHECK-SAME: tensor<3x4xf32> {dtc.parameter = "w/1", dtc.part = {dim = 0 : i64, shape = array<i64: 6, 4>, start = 3 : i64, tensor = "w"}}
func.func @forward(%x: tensor<8x4xf32> {dtc.input = "x"}, %w: tensor<6x4xf32> {dtc.parameter = "w"}) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
  %0 = dtc.matmul %x, %w {transpose_rhs} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1:2 = dtc.split %0 axis 1 : (tensor<8x6xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>)
  return %1#0, %1#1 : tensor<8x3xf32>, tensor<8x3xf32>
}

// -----

// A parameter that another op needs whole stays whole.
// CHECK-LABEL: func @forward
// CHECK-SAME: tensor<4x6xf32> {dtc.parameter = "w"}
// CHECK: dtc.split
func.func @forward(%x: tensor<8x4xf32> {dtc.input = "x"}, %w: tensor<4x6xf32> {dtc.parameter = "w"}) -> (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x6xf32>) {
  %0 = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1:2 = dtc.split %0 axis 1 : (tensor<8x6xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>)
  return %1#0, %1#1, %0 : tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x6xf32>
}

// -----

// A part that is split again is still a part of the model's tensor.
// CHECK-LABEL: func @forward
// CHECK-SAME: dtc.parameter = "w/0", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 12>, start = 0 : i64, tensor = "w"}}
// CHECK-SAME: dtc.parameter = "w/1/0", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 12>, start = 8 : i64, tensor = "w"}}
// CHECK-SAME: dtc.parameter = "w/1/1", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 12>, start = 10 : i64, tensor = "w"}}
func.func @forward(%x: tensor<8x4xf32> {dtc.input = "x"}, %w: tensor<4x12xf32> {dtc.parameter = "w"}) -> (tensor<8x8xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %0 = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
  %1:2 = dtc.split %0 axis 1 : (tensor<8x12xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>)
  %2:2 = dtc.split %1#1 axis 1 : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)
  return %1#0, %2#0, %2#1 : tensor<8x8xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}

// -----

// Columns that are reshaped to [2, heads, width] before they are cut: each part
// is reshaped likewise.
// CHECK-LABEL: func @unbind
// CHECK-SAME: tensor<4x6xf32> {dtc.parameter = "w/0", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 12>, start = 0 : i64, tensor = "w"}}
// CHECK-SAME: tensor<4x6xf32> {dtc.parameter = "w/1", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 12>, start = 6 : i64, tensor = "w"}}
// CHECK-SAME: %[[B0:[a-z0-9]+]]: tensor<6xf32> {dtc.parameter = "b/0"
// CHECK-SAME: %[[B1:[a-z0-9]+]]: tensor<6xf32> {dtc.parameter = "b/1"
// CHECK-DAG: %[[Q:.*]] = dtc.add %{{.*}}, %[[B0]] : (tensor<16x6xf32>, tensor<6xf32>) -> tensor<16x6xf32>
// CHECK-DAG: %[[K:.*]] = dtc.add %{{.*}}, %[[B1]] : (tensor<16x6xf32>, tensor<6xf32>) -> tensor<16x6xf32>
// CHECK-DAG: %[[R:.*]] = dtc.reshape %[[Q]] : (tensor<16x6xf32>) -> tensor<2x8x1x3x2xf32>
// CHECK-DAG: %[[S:.*]] = dtc.reshape %[[K]] : (tensor<16x6xf32>) -> tensor<2x8x1x3x2xf32>
// CHECK-NOT: dtc.split
// CHECK: return %[[R]], %[[S]]
func.func @unbind(%x: tensor<16x4xf32> {dtc.input = "x"}, %w: tensor<4x12xf32> {dtc.parameter = "w"},
                  %b: tensor<12xf32> {dtc.parameter = "b"}) -> (tensor<2x8x1x3x2xf32>, tensor<2x8x1x3x2xf32>) {
  %0 = dtc.matmul %x, %w : (tensor<16x4xf32>, tensor<4x12xf32>) -> tensor<16x12xf32>
  %1 = dtc.add %0, %b : (tensor<16x12xf32>, tensor<12xf32>) -> tensor<16x12xf32>
  %2 = dtc.reshape %1 : (tensor<16x12xf32>) -> tensor<2x8x2x3x2xf32>
  %3:2 = dtc.split %2 axis 2 : (tensor<2x8x2x3x2xf32>) -> (tensor<2x8x1x3x2xf32>, tensor<2x8x1x3x2xf32>)
  return %3#0, %3#1 : tensor<2x8x1x3x2xf32>, tensor<2x8x1x3x2xf32>
}

// -----

// Slices, which overlap, and a minor part of the columns, are no parts.
// CHECK-LABEL: func @whole
// CHECK-SAME: tensor<4x6xf32> {dtc.parameter = "v"}
// CHECK-SAME: tensor<4x6xf32> {dtc.parameter = "w"}
func.func @whole(%x: tensor<8x4xf32> {dtc.input = "x"}, %v: tensor<4x6xf32> {dtc.parameter = "v"},
                 %w: tensor<4x6xf32> {dtc.parameter = "w"}) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x2x1xf32>, tensor<8x2x2xf32>) {
  %0 = dtc.matmul %x, %v : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = dtc.slice %0 axis 1 from 0 : (tensor<8x6xf32>) -> tensor<8x4xf32>
  %2 = dtc.slice %0 axis 1 from 2 : (tensor<8x6xf32>) -> tensor<8x4xf32>
  %3 = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %4 = dtc.reshape %3 : (tensor<8x6xf32>) -> tensor<8x2x3xf32>
  %5:2 = dtc.split %4 axis 2 : (tensor<8x2x3xf32>) -> (tensor<8x2x1xf32>, tensor<8x2x2xf32>)
  return %1, %2, %5#0, %5#1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x2x1xf32>, tensor<8x2x2xf32>
}

// -----

// So do the matrices of experts.
// CHECK-LABEL: func @experts
// CHECK-SAME: %[[W0:[^:]+]]: tensor<3x2x4xf32> {dtc.parameter = "w/0", dtc.part = {dim = 1 : i64, shape = array<i64: 3, 6, 4>, start = 0 : i64, tensor = "w"}}
// CHECK-SAME: %[[W1:[^:]+]]: tensor<3x4x4xf32> {dtc.parameter = "w/1"
// CHECK-DAG: dtc.grouped_matmul %{{.+}}, %[[W0]], %{{.+}} {transpose_weights} : (tensor<8x4xf32>, tensor<3x2x4xf32>, tensor<8xi64>) -> tensor<8x2xf32>
// CHECK-DAG: dtc.grouped_matmul %{{.+}}, %[[W1]], %{{.+}} {transpose_weights}
func.func @experts(%x: tensor<8x4xf32> {dtc.input = "x"}, %i: tensor<8xi64> {dtc.input = "i"}, %w: tensor<3x6x4xf32> {dtc.parameter = "w"}) -> (tensor<8x2xf32>, tensor<8x4xf32>) {
  %0 = dtc.grouped_matmul %x, %w, %i {transpose_weights} : (tensor<8x4xf32>, tensor<3x6x4xf32>, tensor<8xi64>) -> tensor<8x6xf32>
  %1:2 = dtc.split %0 axis 1 : (tensor<8x6xf32>) -> (tensor<8x2xf32>, tensor<8x4xf32>)
  return %1#0, %1#1 : tensor<8x2xf32>, tensor<8x4xf32>
}
