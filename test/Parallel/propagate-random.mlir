// RUN: dtc-opt %s --split-input-file --dtc-assign-mesh="dp=2 tp=2 microbatches=4" --dtc-propagate-layouts --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// Each rank draws its part of the random numbers, and makes its part of what is
// made of them; the program says which micro-batch it is.

// CHECK: func.func @step(%[[X:[^:]+]]: tensor<16x8xf32, #mb_dp>
// CHECK-SAME: %[[MB:[^:]+]]: tensor<4xi64, #mb> {dtc.input = "microbatch", dtc.kind = "microbatch"})
// CHECK: %[[DPS:.+]] = dtc.constant dense<[0, 1]> : tensor<2xi64>
// CHECK: %[[DP:.+]] = dtc.local_slice %[[DPS]] over ["dp"] dim 0
// CHECK: %[[U:.+]] = dtc.random_uniform %{{[^,]+}}, %{{[^,]+}}, %[[MB]], %[[DP]] {dims = array<i64: 0, 0>, id = 0 : i64, ways = array<i64: 4, 2>} : {{.+}} -> tensor<16x8xf32, #mb_dp>
// CHECK: %[[KEEP:.+]] = dtc.compare ge %[[U]], %{{.+}} -> tensor<16x8xi1, #mb_dp>
// CHECK: dtc.select %[[KEEP]], %[[X]]
// CHECK: %[[V:.+]] = dtc.random_uniform {{.+}} {dims = array<i64: 0, 0, 1>, id = 1 : i64, ways = array<i64: 4, 2, 2>}
// CHECK: dtc.mul %{{.+}}, %[[V]]
// CHECK-NOT: dtc.all_gather
func.func @step(%x: tensor<16x8xf32> {dtc.input = "x", dtc.kind = "input"}, %seed: tensor<i64> {dtc.input = "seed", dtc.kind = "seed"},
                %step: tensor<f64> {dtc.input = "step", dtc.kind = "step"}, %w: tensor<8x6xf32> {dtc.parameter = "w", dtc.split_dims = {tp = 1 : i64}})
    -> (tensor<f64> {dtc.output = "loss"}) {
  %p = dtc.constant dense<1.0e-1> : tensor<f32> to tensor<f32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %u = dtc.random_uniform %seed, %step {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<16x8xf32>
  %keep = dtc.compare ge %u, %p : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xi1>
  %d = dtc.select %keep, %x, %zero : (tensor<16x8xi1>, tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %y = dtc.matmul %d, %w : (tensor<16x8xf32>, tensor<8x6xf32>) -> tensor<16x6xf32>
  %v = dtc.random_uniform %seed, %step {id = 1 : i64} : (tensor<i64>, tensor<f64>) -> tensor<16x6xf32>
  %z = dtc.mul %y, %v : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
  %loss = dtc.sum_squares %z : (tensor<16x6xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// Ops on random numbers and on values of constants compute parts, down to the
// numbers.

// CHECK-LABEL: func.func @step(%{{.+}}: tensor<16x2x8xf32
// CHECK: dtc.random_uniform {{.+}} {dims = array<i64: 0, 0>, id = 0 : i64, ways = array<i64: 4, 2>} : {{.+}} -> tensor<16x6xf32, #mb_dp>
// CHECK: dtc.gather {{.+}} -> tensor<16x6x8xf32, #mb_dp>
// CHECK-NOT: dtc.random_uniform
func.func @step(%x: tensor<16x2x8xf32> {dtc.input = "x", dtc.kind = "input"}, %seed: tensor<i64> {dtc.input = "seed", dtc.kind = "seed"},
                %step: tensor<f64> {dtc.input = "step", dtc.kind = "step"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %u = dtc.random_uniform %seed, %step {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<16x6xf32>
  %row = dtc.constant dense<[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]> : tensor<6xf32> to tensor<6xf32>
  %half = dtc.constant dense<0.5> : tensor<f32> to tensor<f32>
  %lower = dtc.mul %row, %half : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %0 = dtc.compare ge %u, %lower : (tensor<16x6xf32>, tensor<6xf32>) -> tensor<16x6xi1>
  %1 = dtc.cast %0 : (tensor<16x6xi1>) -> tensor<16x6xi64>
  %2 = dtc.gather %x, %1 {batch_dims = 1 : i64} : (tensor<16x2x8xf32>, tensor<16x6xi64>) -> tensor<16x6x8xf32>
  %loss = dtc.sum_squares %2 : (tensor<16x6x8xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
