// RUN: dtc-opt %s --dtc-add-loss=replicas=2 | FileCheck %s --check-prefixes=CHECK,MEAN
// RUN: dtc-opt %s --dtc-add-loss="replicas=2 loss=mse" | FileCheck %s --check-prefixes=CHECK,ELEMENTS
// RUN: dtc-opt %s --dtc-add-loss="replicas=2 ignore-index=0" | FileCheck %s --check-prefix=COUNTED
// RUN: dtc-opt %s --dtc-add-loss=replicas=2 --dtc-build-eval=replicas=2 --cse | FileCheck %s --check-prefix=EVAL

// The batch is that of two replicas, which stand for any number: what a mean is
// divided by is the count of one, times how many there are.

// CHECK: func @step(
// CHECK-SAME: %[[REPLICAS:[^:]+]]: tensor<f64> {dtc.input = "replicas", dtc.kind = "replicas"}
// MEAN: %[[OWN:.+]] = dtc.constant dense<4.000000e+00> : tensor<f64>
// ELEMENTS: %[[OWN:.+]] = dtc.constant dense<2.000000e+01> : tensor<f64>
// CHECK: %[[COUNT:.+]] = dtc.mul %[[OWN]], %[[REPLICAS]]
// CHECK: dtc.div %{{.+}}, %[[COUNT]]

// Labels are counted as they come.

// COUNTED-NOT: replicas
// COUNTED: dtc.count_labels

// EVAL: %[[COUNT:.+]] = dtc.mul %{{.+}}, %{{.+}} : (tensor<f64>, tensor<f64>) -> tensor<f64>
// EVAL: %[[LOSS:.+]] = dtc.div %{{.+}}, %[[COUNT]]
// EVAL: %[[PART:.+]] = dtc.reshape %[[COUNT]]
// EVAL: dtc.concat %{{.+}}, %[[PART]], %{{.+}} axis 0
func.func @forward(%x: tensor<8x5xf32> {dtc.input = "x"}) -> (tensor<8x5xf32> {dtc.output = "y"}) {
  %0 = dtc.neg %x : (tensor<8x5xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}
