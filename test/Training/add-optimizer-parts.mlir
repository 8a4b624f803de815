// RUN: dtc-opt %s --dtc-add-optimizer=optimizer=lamb | FileCheck %s
// RUN: dtc-opt %s --dtc-add-optimizer=optimizer=lars | FileCheck %s --check-prefix=LARS

// The parts of one tensor have one trust ratio.
// CHECK: %[[D0:.+]], %{{.+}} = dtc.adam_direction %[[W0:[a-z0-9]+]],
// CHECK: %[[D1:.+]], %{{.+}} = dtc.adam_direction %[[W1:[a-z0-9]+]],
// CHECK-DAG: %[[P0:.+]] = dtc.sum_squares %[[W0]]
// CHECK-DAG: %[[P1:.+]] = dtc.sum_squares %[[W1]]
// CHECK: %[[P:.+]] = dtc.add %[[P0]], %[[P1]]
// CHECK: %[[PN:.+]] = dtc.sqrt %[[P]]
// CHECK: %[[Q0:.+]] = dtc.sum_squares %[[D0]]
// CHECK: %[[Q1:.+]] = dtc.sum_squares %[[D1]]
// CHECK: %[[Q:.+]] = dtc.add %[[Q0]], %[[Q1]]
// CHECK: %[[QN:.+]] = dtc.sqrt %[[Q]]
// CHECK: dtc.div %[[PN]], %[[QN]]
// CHECK: %[[LR:.+]] = dtc.mul
// CHECK: dtc.sgd %[[W0]], %[[D0]], %[[LR]]
// CHECK: dtc.sgd %[[W1]], %[[D1]], %[[LR]]
// CHECK: dtc.adam_direction
// CHECK-NOT: dtc.add
// CHECK: return

// LARS: dtc.sqrt
// LARS-NEXT: %[[S0:.+]] = dtc.sum_squares %[[W0:[a-z0-9]+]] :
// LARS-NEXT: %[[S1:.+]] = dtc.sum_squares %[[W1:[a-z0-9]+]] :
// LARS-NEXT: %[[S:.+]] = dtc.add %[[S0]], %[[S1]]
// LARS: dtc.sqrt %[[S]]
// LARS: dtc.div
// LARS: %[[LR:.+]] = dtc.mul
// LARS-NEXT: dtc.lars %[[W0]], %{{.+}}, %[[LR]]
// LARS-NEXT: dtc.lars %[[W1]], %{{.+}}, %[[LR]]
// LARS: dtc.div
// LARS: dtc.lars
// LARS: return
module {
  func.func @step(%a: tensor<4xf32> {dtc.parameter = "w.0", dtc.part = {dim = 0 : i64, shape = array<i64: 8>, start = 0 : i64, tensor = "w"}},
                  %b: tensor<4xf32> {dtc.parameter = "w.1", dtc.part = {dim = 0 : i64, shape = array<i64: 8>, start = 4 : i64, tensor = "w"}},
                  %c: tensor<4xf32> {dtc.parameter = "v"})
      -> (tensor<f64> {dtc.output = "loss"}, tensor<4xf32> {dtc.gradient = "w.0"}, tensor<4xf32> {dtc.gradient = "w.1"}, tensor<4xf32> {dtc.gradient = "v"}) {
    %0 = dtc.sum_squares %a : (tensor<4xf32>) -> tensor<f64>
    return %0, %a, %b, %c : tensor<f64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
