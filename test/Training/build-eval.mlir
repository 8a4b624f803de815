// RUN: dtc-opt %s --dtc-build-eval | FileCheck %s
// RUN: dtc-opt %s --dtc-build-eval=ignore-index=-100 | FileCheck %s --check-prefix=IGNORE

// The sum of the losses, not of the smoothed ones that are trained, their number
// and that of labels whose logit is the largest; then counts by class. Other
// results stay.

// CHECK: func.func @step(%[[Z:.+]]: tensor<2x3x4xf32> {dtc.parameter = "z"}, %[[T:.+]]: tensor<2x3xi64>
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<15xf64> {dtc.output = "eval", dtc.sums = [{name = "loss", size = 1 : i64}, {name = "count", size = 1 : i64}, {name = "right", size = 1 : i64}, {name = "class_hits", size = 4 : i64}, {name = "class_predictions", size = 4 : i64}, {name = "class_labels", size = 4 : i64}]}, tensor<2x3x4xf32> {dtc.gradient = "z"})
// CHECK-DAG: %[[SUM:.+]] = dtc.cross_entropy %[[Z]], %[[T]] : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<f64>
// CHECK-DAG: %[[COUNT:.+]] = dtc.constant dense<6.000000e+00> : tensor<f64>
// CHECK: %[[A:.+]] = dtc.reshape %[[SUM]] : (tensor<f64>) -> tensor<1xf64>
// CHECK: %[[B:.+]] = dtc.reshape %[[COUNT]] : (tensor<f64>) -> tensor<1xf64>
// CHECK: %[[HOT:.+]] = dtc.one_hot %[[T]]
// CHECK: %[[PICKED:.+]] = dtc.select %[[HOT]], %[[Z]], %{{.+}}
// CHECK: %[[OWN:.+]] = dtc.reduce_sum %[[PICKED]] axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK: %[[SMALLER:.+]] = dtc.compare lt %[[Z]], %[[OWN]]
// CHECK: %[[ONES:.+]] = dtc.select %[[SMALLER]]
// CHECK: %[[BELOW:.+]] = dtc.reduce_sum %[[ONES]] axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK: %[[OTHERS:.+]] = dtc.constant dense<3.000000e+00> : tensor<f32>
// CHECK: %[[RIGHT:.+]] = dtc.compare ge %[[BELOW]], %[[OTHERS]]
// CHECK: dtc.select %[[RIGHT]], {{.*}} -> tensor<2x3x1xf64>
// CHECK: %[[LARGEST:.+]] = dtc.reduce_max %[[Z]] axes [2]
// CHECK: dtc.logical_and %[[HOT]], %[[RIGHT]]
// CHECK: dtc.compare ge %[[Z]], %[[LARGEST]]
// CHECK: %[[ALL:.+]] = dtc.concat %[[A]], %[[B]], {{.*}} axis 0
// CHECK: %[[EVAL:.+]] = dtc.sum_over_stages %[[ALL]] : (tensor<15xf64>) -> tensor<15xf64>
// CHECK: return %{{.+}}, %[[EVAL]], %{{.+}} : tensor<f64>, tensor<15xf64>, tensor<2x3x4xf32>

// An ignored label is neither counted nor right.

// IGNORE: dtc.cross_entropy %{{.+}}, %[[T:.+]] {ignore_index = -100 : i64}
// IGNORE: %[[COUNT:.+]] = dtc.count_labels %[[T]] {ignore_index = -100 : i64}
// IGNORE: dtc.reshape %[[COUNT]] : (tensor<f64>) -> tensor<1xf64>
// IGNORE: %[[COUNTED:.+]] = dtc.compare ne
// IGNORE: %[[RIGHT:.+]] = dtc.compare ge
// IGNORE: %[[BOTH:.+]] = dtc.logical_and %[[RIGHT]], %[[COUNTED]]
// IGNORE: dtc.select %[[BOTH]]
// IGNORE: %[[PREDICTED:.+]] = dtc.compare ge
// IGNORE: dtc.logical_and %[[PREDICTED]], %[[COUNTED]]
module {
  func.func @step(%z: tensor<2x3x4xf32> {dtc.parameter = "z"}, %t: tensor<2x3xi64> {dtc.input = "labels", dtc.kind = "label"})
      -> (tensor<f64> {dtc.output = "loss"}, tensor<2x3x4xf32> {dtc.output = "predictions"}, tensor<2x3x4xf32> {dtc.gradient = "z"}) {
    %s = dtc.sum_squares %z : (tensor<2x3x4xf32>) -> tensor<f64>
    return %s, %z, %z : tensor<f64>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  }
}
