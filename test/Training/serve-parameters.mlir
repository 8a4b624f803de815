// RUN: dtc-opt %s --dtc-serve-parameters="workers=2" | FileCheck %s
// RUN: dtc-opt %s --dtc-serve-parameters="workers=2" --dtc-assign-mesh="dp=3 workers" --dtc-propagate-layouts --dtc-insert-collectives --dtc-split-stages | FileCheck %s --check-prefix=SPLIT

// Updates belong to the program of the server, which shares all but what is pushed. The
// change of a running statistic is pushed, too, and divided by the number of workers.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[W:arg[0-9]+]]: tensor<8xf32> {dtc.parameter = "w", dtc.shared}
// CHECK-SAME: %[[P:arg[0-9]+]]: tensor<8xf32> {dtc.state = "w.pushed", dtc.transient}
// CHECK-SAME: %[[S:arg[0-9]+]]: tensor<6xf32> {dtc.frozen, dtc.parameter = "s", dtc.shared, dtc.statistic}
// CHECK-SAME: %[[C:arg[0-9]+]]: tensor<6xf32> {dtc.state = "s.pushed", dtc.transient}
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<8xf32> {dtc.state = "w.pushed"},
// CHECK-SAME: tensor<8xf32> {dtc.parameter = "w", dtc.program = "apply"},
// CHECK-SAME: tensor<6xf32> {dtc.state = "s.pushed"},
// CHECK-SAME: tensor<6xf32> {dtc.parameter = "s", dtc.program = "apply"},
// CHECK-SAME: tensor<1xf64> {dtc.output = "eval"})
// CHECK: %[[G:.*]] = dtc.pushed %[[P]] over "dp"
// CHECK: dtc.sgd %[[W]], %[[G]]
// CHECK: dtc.sub %{{.*}}, %[[S]]
// CHECK: %[[N:.*]] = dtc.constant dense<2.000000e+00>
// CHECK: %[[D:.*]] = dtc.pushed %[[C]] over "dp"
// CHECK: %[[M:.*]] = dtc.div %[[D]], %[[N]]
// CHECK: dtc.add %[[S]], %[[M]]

// The server evaluates samples that a worker has, too, so its row does not count.
// CHECK: %[[T:.*]] = dtc.terms %{{.*}} over "dp" : tensor<1xf64> -> tensor<3x1xf64>
// CHECK: %[[R:.*]] = dtc.slice %[[T]] axis 0 from 1 : (tensor<3x1xf64>) -> tensor<2x1xf64>
// CHECK: dtc.reduce_sum %[[R]] axes [0]

// Neither program communicates over dp.
// SPLIT: module @stage0
// SPLIT-NOT: dtc.all_
// SPLIT: module @apply0 attributes {dtc.program = "apply", dtc.stage = 0 : i64}
// SPLIT-NOT: dtc.all_
// SPLIT: dtc.sgd
// SPLIT: module @eval0


func.func @step(%lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %x: tensor<4x6xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<8xf32> {dtc.parameter = "w"}, %p: tensor<8xf32> {dtc.state = "w.pushed"},
                %s: tensor<6xf32> {dtc.frozen, dtc.parameter = "s", dtc.statistic})
    -> (tensor<f64> {dtc.output = "loss"}, tensor<8xf32> {dtc.state = "w.pushed"}, tensor<8xf32> {dtc.parameter = "w"},
        tensor<6xf32> {dtc.parameter = "s"}, tensor<8xf32> {dtc.gradient = "w"}, tensor<1xf64> {dtc.output = "eval"}) {
  %f = dtc.cast %x : (tensor<4x6xf32>) -> tensor<4x6xf64>
  %loss = dtc.sum_squares %f : (tensor<4x6xf64>) -> tensor<f64>
  %e = dtc.reshape %loss : (tensor<f64>) -> tensor<1xf64>
  %g = dtc.mul %w, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %r = dtc.reduce_sum %x axes [0] : (tensor<4x6xf32>) -> tensor<1x6xf32>
  %s1 = dtc.reshape %r : (tensor<1x6xf32>) -> tensor<6xf32>
  %q = dtc.pushed %p over "dp" : tensor<8xf32> -> tensor<8xf32>
  %w1 = dtc.sgd %w, %q, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> tensor<8xf32>
  return %loss, %g, %w1, %s1, %g, %e : tensor<f64>, tensor<8xf32>, tensor<8xf32>, tensor<6xf32>, tensor<8xf32>, tensor<1xf64>
}
