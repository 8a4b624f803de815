// RUN: dtc-opt %s --dtc-assign-mesh="dp=2 microbatches=4" --dtc-propagate-layouts=replicas-at-launch --dtc-insert-collectives --dtc-verify=invariant=parallel | FileCheck %s

// The program gives the number of replicas and the index of a rank's replica:
// no constant holds them.

// CHECK: func.func @step(
// CHECK-SAME: %[[MB:[^:]+]]: tensor<4xi64, #mb> {dtc.input = "microbatch", dtc.kind = "microbatch"}
// CHECK-SAME: %[[DP:[^:]+]]: tensor<2xi64, #dp> {dtc.input = "replica", dtc.kind = "replica"}
// CHECK-SAME: %[[COUNT:[^:]+]]: tensor<f64, #replicated> {dtc.input = "replicas", dtc.kind = "replicas"}
// CHECK: dtc.random_uniform %{{[^,]+}}, %{{[^,]+}}, %[[MB]], %[[DP]], %[[COUNT]] {dims = array<i64: 0, 0>, id = 0 : i64, ways = array<i64: 4, 0>}
// CHECK-NOT: local_slice
func.func @step(%x: tensor<16x8xf32> {dtc.input = "x", dtc.kind = "input"}, %seed: tensor<i64> {dtc.input = "seed", dtc.kind = "seed"},
                %step: tensor<f64> {dtc.input = "step", dtc.kind = "step"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %u = dtc.random_uniform %seed, %step {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<16x8xf32>
  %y = dtc.mul %x, %u : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %loss = dtc.sum_squares %y : (tensor<16x8xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
