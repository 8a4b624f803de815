// RUN: dtc-opt %s --dtc-expand-training-ops="statistics=micro microbatches=2" | FileCheck %s
// RUN: dtc-opt %s --dtc-expand-training-ops="statistics=local microbatches=2 dp=2" | FileCheck %s --check-prefix=LOCAL
// RUN: dtc-opt %s --dtc-expand-training-ops | FileCheck %s --check-prefix=GLOBAL
// RUN: not dtc-opt %s --dtc-expand-training-ops="replicas=8" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: dtc-opt %s --dtc-expand-training-ops="replicas=2" | FileCheck %s --check-prefix=REPLICAS
// RUN: dtc-opt %s --dtc-expand-training-ops=statistics=frozen --cse | FileCheck %s --check-prefix=FROZEN
// RUN: not dtc-opt %s --dtc-expand-training-ops="microbatches=4" 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: not dtc-opt %s --dtc-expand-training-ops="statistics=local microbatches=4 dp=2" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not dtc-opt %s --dtc-expand-training-ops="statistics=micro microbatches=3" 2>&1 | FileCheck %s --check-prefix=PARTS

// RUN: not dtc-opt %s --dtc-expand-training-ops="statistics=batch" 2>&1 | FileCheck %s --check-prefix=KIND

// Two micro-batches of four samples: each has statistics of its own, and ops
// after it see both as a dimension while they can.

// CHECK: @step(%[[X:[^:]+]]: tensor<8x4xf64> {{.*}}, %[[S:[^:]+]]: {{.*}}, %[[B:[^:]+]]: {{.*}}, %[[M:[^:]+]]: tensor<4xf64> {dtc.frozen, dtc.parameter = "m", dtc.statistic}, %[[V:[^:]+]]: tensor<4xf64> {dtc.frozen, dtc.parameter = "v", dtc.statistic})
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<8x4xf64> {dtc.output = "predictions"}, tensor<4xf64> {dtc.parameter = "m"}, tensor<4xf64> {dtc.parameter = "v"})
// CHECK: %[[G:.+]] = dtc.reshape %[[X]] : (tensor<8x4xf64>) -> tensor<2x4x4xf64>
// CHECK: %[[QUARTER:.+]] = dtc.constant dense<2.500000e-01>
// CHECK: %[[SUM:.+]] = dtc.reduce_sum %[[G]] axes [1] : (tensor<2x4x4xf64>) -> tensor<2x1x4xf64>
// CHECK: %[[MEAN:.+]] = dtc.mul %[[SUM]], %[[QUARTER]]
// CHECK: %[[FIXED:.+]] = dtc.stop_gradient %[[MEAN]]
// CHECK: %[[DEV:.+]] = dtc.sub %[[G]], %[[FIXED]]
// CHECK: %[[SQ:.+]] = dtc.mul %[[DEV]], %[[DEV]]
// CHECK: %[[SQS:.+]] = dtc.reduce_sum %[[SQ]] axes [1]
// CHECK: %[[VAR:.+]] = dtc.mul %[[SQS]], %[[QUARTER]]
// CHECK: %[[C:.+]] = dtc.sub %[[G]], %[[MEAN]]
// CHECK: %[[EPS:.+]] = dtc.constant dense<1.000000e-05>
// CHECK: %[[VE:.+]] = dtc.add %[[VAR]], %[[EPS]]
// CHECK: %[[D:.+]] = dtc.sqrt %[[VE]]
// CHECK: %[[R:.+]] = dtc.reciprocal %[[D]]
// CHECK: %[[F:.+]] = dtc.mul %[[R]], %[[S]]
// CHECK: %[[EACH:.+]] = dtc.broadcast %[[B]] : (tensor<4xf64>) -> tensor<2x1x4xf64>
// CHECK: %[[N:.+]] = dtc.mul %[[C]], %[[F]]
// CHECK: %[[Y:.+]] = dtc.add %[[N]], %[[EACH]]

// One replica may be alone, and have one element of each channel.
// ALONE: batch norm by the statistics of one element of each channel

// With any number of replicas, of four samples each, n is a product.

// REPLICAS: @step({{.*}}, %[[REPLICAS:[^:]+]]: tensor<f64> {dtc.input = "replicas", dtc.kind = "replicas"}
// REPLICAS: %[[FOUR:.+]] = dtc.constant dense<4.000000e+00> : tensor<f64>
// REPLICAS: %[[N:.+]] = dtc.mul %[[FOUR]], %[[REPLICAS]]
// REPLICAS: %[[R:.+]] = dtc.reciprocal %[[N]]
// REPLICAS: %[[INVERSE:.+]] = dtc.cast %[[R]]
// REPLICAS: %[[SUM:.+]] = dtc.reduce_sum %{{.+}} axes [1] : (tensor<1x8x4xf64>)
// REPLICAS: dtc.mul %[[SUM]], %[[INVERSE]]
// REPLICAS: dtc.average %{{.+}} {decay = 9.000000e-01 : f64}
// REPLICAS: %[[LESS:.+]] = dtc.sub %{{.+}}, %{{.+}} : (tensor<f64>, tensor<f64>) -> tensor<f64>
// REPLICAS: dtc.div %{{.+}}, %[[LESS]] : (tensor<f64>, tensor<f64>) -> tensor<f64>

// The mean over micro-batches of their means.
// CHECK: %[[MEANS:.+]] = dtc.reduce_sum %[[MEAN]] axes [0] : (tensor<2x1x4xf64>) -> tensor<1x1x4xf64>
// CHECK: %[[MS:.+]] = dtc.reshape %[[MEANS]] : (tensor<1x1x4xf64>) -> tensor<4xf64>
// CHECK: %[[HALF:.+]] = dtc.constant dense<5.000000e-01>
// CHECK: %[[MM:.+]] = dtc.mul %[[MS]], %[[HALF]]
// CHECK: %[[NEWM:.+]] = dtc.average %[[M]], %[[MM]] {decay = 9.000000e-01 : f64}

// And of their variances, times 4 / 3.
// CHECK: %[[VARS:.+]] = dtc.reduce_sum %[[VAR]] axes [0]
// CHECK: %[[VS:.+]] = dtc.reshape %[[VARS]]
// CHECK: %[[UNBIASED:.+]] = dtc.constant dense<0.66666666666666663>
// CHECK: %[[VV:.+]] = dtc.mul %[[VS]], %[[UNBIASED]]
// CHECK: %[[NEWV:.+]] = dtc.average %[[V]], %[[VV]]

// CHECK: %[[RELU:.+]] = dtc.relu %[[Y]] : (tensor<2x4x4xf64>) -> tensor<2x4x4xf64>
// CHECK: %[[OUT:.+]] = dtc.reshape %[[RELU]] : (tensor<2x4x4xf64>) -> tensor<8x4xf64>
// CHECK: %[[LOSS:.+]] = dtc.sum_squares %[[OUT]]

// An evaluation's predictions, by the running statistics.
// CHECK: %[[EC:.+]] = dtc.sub %[[X]], %[[M]] : (tensor<8x4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
// CHECK: dtc.add %[[V]], %{{.+}}
// CHECK: %[[EY:.+]] = dtc.add %{{.+}}, %[[B]] : (tensor<8x4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
// CHECK: %[[P:.+]] = dtc.relu %[[EY]]
// CHECK: return %[[LOSS]], %[[P]], %[[NEWM]], %[[NEWV]]

// Each rank's part of a micro-batch.
// LOCAL: dtc.reshape %{{.+}} : (tensor<8x4xf64>) -> tensor<4x2x4xf64>

// The whole batch; the unbiased variance is 8 / 7 of it.
// GLOBAL: dtc.reshape %{{.+}} : (tensor<8x4xf64>) -> tensor<1x8x4xf64>
// GLOBAL: dtc.constant dense<1.1428571428571428>

// FROZEN: @step(%[[X:[^:]+]]: {{.*}}, %[[M:[^:]+]]: tensor<4xf64> {dtc.frozen, dtc.parameter = "m"}, %{{.+}}: tensor<4xf64> {dtc.frozen, dtc.parameter = "v"})
// FROZEN-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<8x4xf64> {dtc.output = "predictions"}) {
// FROZEN: dtc.sub %[[X]], %[[M]]
// FROZEN: %[[Y:.+]] = dtc.relu
// FROZEN: %[[L:.+]] = dtc.sum_squares %[[Y]]
// FROZEN: return %[[L]], %[[Y]]

// CUT: error: batch norm needs the statistics of the whole batch before a step's 4 micro-batches are there; use one micro-batch, or normalise with --batchnorm micro (each micro-batch by its own statistics), local (each rank's part of it) or frozen (by the running ones)
// ONE: error: batch norm by the statistics of one element of each channel, which are the element itself; use a larger --batch, or fewer micro-batches
// KIND: error: batch norm by statistics 'batch', expected global, micro, local or frozen
// PARTS: error: batch norm of 'tensor<8x4xf64>' in 3 parts, which do not divide its 8 samples
func.func @step(%x: tensor<8x4xf64> {dtc.input = "x"}, %s: tensor<4xf64> {dtc.parameter = "s"}, %b: tensor<4xf64> {dtc.parameter = "b"},
                %m: tensor<4xf64> {dtc.parameter = "m"}, %v: tensor<4xf64> {dtc.parameter = "v"})
    -> (tensor<f64> {dtc.output = "loss"}, tensor<8x4xf64> {dtc.output = "predictions"}) {
  %0 = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<8x4xf64>
  %1 = dtc.relu %0 : (tensor<8x4xf64>) -> tensor<8x4xf64>
  %2 = dtc.sum_squares %1 : (tensor<8x4xf64>) -> tensor<f64>
  return %2, %1 : tensor<f64>, tensor<8x4xf64>
}
