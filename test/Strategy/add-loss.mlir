// RUN: dtc-opt %s --dtc-add-loss=output=logits --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-add-loss="output=logits ignore-index=-100" --split-input-file | FileCheck %s --check-prefix=IGNORE
// RUN: dtc-opt %s --dtc-add-loss="output=logits class-axis=1 reduction=sum" --split-input-file | FileCheck %s --check-prefix=AXIS
// RUN: dtc-opt %s --dtc-add-loss="output=logits loss=mse" --split-input-file | FileCheck %s --check-prefix=MSE
// RUN: dtc-opt %s --dtc-add-loss=loss=output:cost --split-input-file | FileCheck %s --check-prefix=OUTPUT
// RUN: dtc-opt %s --dtc-add-loss=loss=output --split-input-file | FileCheck %s --check-prefix=OUTPUT
// RUN: dtc-opt %s --dtc-add-loss="loss=output output=each" --split-input-file | FileCheck %s --check-prefix=EACH
// RUN: dtc-opt %s --dtc-add-loss="output=logits label-smoothing=0.5 class-weights=1,2,3,4 ignore-index=-100" --split-input-file | FileCheck %s --check-prefix=WEIGHTED
// RUN: dtc-opt %s --dtc-add-loss="output=logits label-smoothing=0.5" --split-input-file | FileCheck %s --check-prefix=SMOOTH
// RUN: dtc-opt %s --dtc-add-loss="output=logits loss=bce" --split-input-file | FileCheck %s --check-prefix=BCE

// CHECK: func.func @step(%[[X:[a-z0-9]+]]: tensor<2x3x4xf32> {dtc.input = "x", dtc.kind = "input"},
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x3xi64> {dtc.bound = array<i64: {{[0-9]+}}>, dtc.input = "labels", dtc.kind = "label"}, %[[W:[a-z0-9]+]]: tensor<4xf32> {dtc.parameter = "w"})
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<2x3x4xf32> {dtc.output = "predictions"}, tensor<2x3x4xf32> {dtc.output = "recorded"})
// CHECK: %[[Z:.+]] = dtc.mul %[[X]], %[[W]]
// Ops that only other outputs need are gone.
// CHECK-NEXT: %[[SUM:.+]] = dtc.cross_entropy %[[Z]], %[[T]] : {{.*}} -> tensor<f64>
// CHECK-NEXT: %[[N:.+]] = dtc.constant dense<6.000000e+00>
// CHECK-NEXT: %[[MEAN:.+]] = dtc.div %[[SUM]], %[[N]]
// CHECK-NEXT: %[[LOSS:.+]] = dtc.sum_over_stages %[[MEAN]]
// CHECK-NEXT: return %[[LOSS]], %[[Z]], %[[Z]] : tensor<f64>, tensor<2x3x4xf32>, tensor<2x3x4xf32>

// IGNORE: %[[SUM:.+]] = dtc.cross_entropy %{{.+}}, %[[T:.+]] {ignore_index = -100 : i64}
// IGNORE-NEXT: %[[N:.+]] = dtc.count_labels %[[T]] {ignore_index = -100 : i64}
// IGNORE-NEXT: dtc.div %[[SUM]], %[[N]]

// AXIS: %[[T:[a-z0-9]+]]: tensor<2x4xi64> {dtc.bound = array<i64: {{[0-9]+}}>, dtc.input = "labels"
// AXIS: %[[Z:.+]] = dtc.transpose %{{.+}} [0, 2, 1]
// AXIS-NEXT: %[[SUM:.+]] = dtc.cross_entropy %[[Z]], %[[T]]
// AXIS-NEXT: %[[LOSS:.+]] = dtc.sum_over_stages %[[SUM]]
// The recorded output has the classes in the model's order.
// AXIS-NEXT: return %[[LOSS]], %[[Z]], %{{.+}} : tensor<f64>, tensor<2x4x3xf32>, tensor<2x3x4xf32>

// MSE: %[[T:[a-z0-9]+]]: tensor<2x3x4xf32> {dtc.input = "labels", dtc.kind = "label"}
// MSE: %[[SUM:.+]] = dtc.squared_error %{{.+}}, %[[T]]
// MSE: dtc.constant dense<2.400000e+01>
// MSE: dtc.div %[[SUM]]

// OUTPUT-NOT: labels
// OUTPUT-NOT: recorded
// OUTPUT: %[[COST:.+]] = dtc.reshape
// OUTPUT-NEXT: %[[LOSS:.+]] = dtc.cast %[[COST]] : (tensor<f32>) -> tensor<f64>
// OUTPUT-NEXT: dtc.sum_over_stages %[[LOSS]]

// EACH: %[[S:.+]] = dtc.reduce_sum
// EACH-NEXT: %[[C:.+]] = dtc.cast %[[S]] : (tensor<2x1x1xf32>) -> tensor<2x1x1xf64>
// EACH-NEXT: %[[R:.+]] = dtc.reduce_sum %[[C]] axes [0, 1, 2]
// EACH-NEXT: %[[SUM:.+]] = dtc.reshape %[[R]]
// EACH-NEXT: %[[N:.+]] = dtc.constant dense<2.000000e+00>
// EACH-NEXT: %[[MEAN:.+]] = dtc.div %[[SUM]], %[[N]]
// EACH-NEXT: dtc.sum_over_stages %[[MEAN]]
// The label has 1 - 0.5 + 0.5 / 4 of its row, each other class 0.5 / 4, times
// the class's weight; the mean divides by the labels' weights.
// WEIGHTED: %[[T:[a-z0-9]+]]: tensor<2x3xi64> {dtc.bound = array<i64: 4>, dtc.ignore_index = -100 : i64, dtc.input = "labels"
// WEIGHTED: %[[HOT:.+]] = dtc.one_hot %[[T]] : (tensor<2x3xi64>) -> tensor<2x3x4xi1>
// WEIGHTED: %[[COUNTED:.+]] = dtc.compare ne
// WEIGHTED-DAG: %[[OWN:.+]] = dtc.constant dense<[6.250000e-01, 1.250000e+00, 1.875000e+00, 2.500000e+00]> : tensor<4xf32>
// WEIGHTED-DAG: %[[OTHER:.+]] = dtc.constant dense<[1.250000e-01, 2.500000e-01, 3.750000e-01, 5.000000e-01]> : tensor<4xf32>
// WEIGHTED-DAG: %[[L:.+]] = dtc.log_softmax
// WEIGHTED-DAG: %[[ROW:.+]] = dtc.select %[[HOT]], %[[OWN]], %[[OTHER]]
// WEIGHTED-DAG: %[[MASS:.+]] = dtc.select %[[COUNTED]], %[[ROW]]
// WEIGHTED: dtc.mul %[[MASS]], %[[L]]
// WEIGHTED: %[[SUM:.+]] = dtc.neg {{.*}} tensor<f64>
// WEIGHTED-DAG: dtc.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf64>
// WEIGHTED: %[[TOTAL:.+]] = dtc.reshape {{.*}} tensor<f64>
// WEIGHTED-NEXT: dtc.div %[[SUM]], %[[TOTAL]]

// SMOOTH: dtc.select %{{.+}} : (tensor<2x3x4xi1>, tensor<f32>, tensor<f32>) -> tensor<2x3x4xf32>
// SMOOTH: %[[SUM:.+]] = dtc.neg
// SMOOTH-NEXT: %[[N:.+]] = dtc.constant dense<6.000000e+00>
// SMOOTH-NEXT: dtc.div %[[SUM]], %[[N]]

// BCE: %[[T:[a-z0-9]+]]: tensor<2x3x4xf32> {dtc.input = "labels", dtc.kind = "label"}
// BCE: %[[X:.+]] = dtc.mul
// BCE-NEXT: %[[M:.+]] = dtc.relu %[[X]]
// BCE: %[[N:.+]] = dtc.neg %[[X]]
// BCE-NEXT: dtc.mul %[[N]], %[[T]]
// BCE: dtc.constant dense<2.400000e+01>
module {
  func.func @forward(%x: tensor<2x3x4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"})
      -> (tensor<2x3x4xf32> {dtc.output = "logits"}, tensor<2x1x1xf32> {dtc.output = "each"}, tensor<f32> {dtc.output = "cost"}) {
    %0 = dtc.mul %x, %w : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %1 = dtc.reduce_sum %0 axes [1, 2] : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
    %2 = dtc.reduce_sum %1 axes [0] : (tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
    %3 = dtc.reshape %2 : (tensor<1x1x1xf32>) -> tensor<f32>
    return %0, %1, %3 : tensor<2x3x4xf32>, tensor<2x1x1xf32>, tensor<f32>
  }
}
