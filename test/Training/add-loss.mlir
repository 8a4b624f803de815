// RUN: dtc-opt %s --dtc-add-loss=output=logits --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-add-loss="output=logits ignore-index=-100" --split-input-file | FileCheck %s --check-prefix=IGNORE
// RUN: dtc-opt %s --dtc-add-loss="output=logits class-axis=1 reduction=sum" --split-input-file | FileCheck %s --check-prefix=AXIS
// RUN: dtc-opt %s --dtc-add-loss="output=logits loss=mse" --split-input-file | FileCheck %s --check-prefix=MSE
// RUN: dtc-opt %s --dtc-add-loss=loss=output:cost --split-input-file | FileCheck %s --check-prefix=OUTPUT
// RUN: dtc-opt %s --dtc-add-loss="loss=output output=each" --split-input-file | FileCheck %s --check-prefix=EACH

// CHECK: func.func @step(%[[X:[a-z0-9]+]]: tensor<2x3x4xf32> {dtc.input = "x", dtc.kind = "input"},
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x3xi64> {dtc.input = "labels", dtc.kind = "label"}, %[[W:[a-z0-9]+]]: tensor<4xf32> {dtc.parameter = "w"})
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"})
// CHECK: %[[Z:.+]] = dtc.mul %[[X]], %[[W]]
// What only other outputs need is gone.
// CHECK-NEXT: %[[SUM:.+]] = dtc.cross_entropy %[[Z]], %[[T]] : {{.*}} -> tensor<f64>
// CHECK-NEXT: %[[N:.+]] = dtc.constant dense<6.000000e+00>
// CHECK-NEXT: %[[MEAN:.+]] = dtc.div %[[SUM]], %[[N]]
// CHECK-NEXT: %[[LOSS:.+]] = dtc.sum_over_stages %[[MEAN]]
// CHECK-NEXT: return %[[LOSS]] : tensor<f64>

// IGNORE: %[[SUM:.+]] = dtc.cross_entropy %{{.+}}, %[[T:.+]] {ignore_index = -100 : i64}
// IGNORE-NEXT: %[[N:.+]] = dtc.count_labels %[[T]] {ignore_index = -100 : i64}
// IGNORE-NEXT: dtc.div %[[SUM]], %[[N]]

// AXIS: %[[T:[a-z0-9]+]]: tensor<2x4xi64> {dtc.input = "labels"
// AXIS: %[[Z:.+]] = dtc.transpose %{{.+}} [0, 2, 1]
// AXIS-NEXT: %[[SUM:.+]] = dtc.cross_entropy %[[Z]], %[[T]]
// AXIS-NEXT: dtc.sum_over_stages %[[SUM]]

// MSE: %[[T:[a-z0-9]+]]: tensor<2x3x4xf32> {dtc.input = "labels", dtc.kind = "label"}
// MSE: %[[SUM:.+]] = dtc.squared_error %{{.+}}, %[[T]]
// MSE: dtc.constant dense<2.400000e+01>
// MSE: dtc.div %[[SUM]]

// OUTPUT-NOT: labels
// OUTPUT: %[[COST:.+]] = dtc.reshape
// OUTPUT-NEXT: %[[LOSS:.+]] = dtc.cast %[[COST]] : (tensor<f32>) -> tensor<f64>
// OUTPUT-NEXT: dtc.sum_over_stages %[[LOSS]]

// EACH: %[[S:.+]] = dtc.reduce_sum
// EACH-NEXT: %[[C:.+]] = dtc.cast %[[S]] : (tensor<2x1x1xf32>) -> tensor<2x1x1xf64>
// EACH-NEXT: %[[R:.+]] = dtc.reduce_sum %[[C]] axes [0, 1, 2]
// EACH-NEXT: %[[N:.+]] = dtc.constant dense<2.000000e+00>
// EACH-NEXT: %[[SUM:.+]] = dtc.reshape %[[R]]
// EACH-NEXT: %[[MEAN:.+]] = dtc.div %[[SUM]], %[[N]]
// EACH-NEXT: dtc.sum_over_stages %[[MEAN]]
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
