// RUN: dtc-opt %s --dtc-build-eval | FileCheck %s
// RUN: dtc-opt %s --dtc-build-eval=ignore-index=-100 | FileCheck %s --check-prefix=IGNORE

// The sum of the losses, not of the smoothed ones that are trained, their number
// and that of labels whose logit is the largest; other results stay.

// CHECK: func.func @step(%[[Z:.+]]: tensor<2x3x4xf32> {dtc.parameter = "z"}, %[[T:.+]]: tensor<2x3xi64>
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<3xf64> {dtc.output = "eval"}, tensor<2x3x4xf32> {dtc.gradient = "z"})
// CHECK-DAG: %[[SUM:.+]] = dtc.cross_entropy %[[Z]], %[[T]] : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<f64>
// CHECK-DAG: %[[COUNT:.+]] = dtc.constant dense<6.000000e+00> : tensor<f64>
// CHECK: %[[HOT:.+]] = dtc.one_hot %[[T]]
// CHECK: %[[ZERO:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[PICKED:.+]] = dtc.select %[[HOT]], %[[Z]], %[[ZERO]]
// CHECK: %[[OWN:.+]] = dtc.reduce_sum %[[PICKED]] axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK: %[[LOW:.+]] = dtc.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[OTHERS:.+]] = dtc.select %[[HOT]], %[[LOW]], %[[Z]]
// CHECK: %[[BEST:.+]] = dtc.reduce_max %[[OTHERS]] axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK: %[[RIGHT:.+]] = dtc.compare gt %[[OWN]], %[[BEST]]
// CHECK: %[[ONES:.+]] = dtc.select %[[RIGHT]], {{.*}} -> tensor<2x3x1xf64>
// CHECK: %[[TOTAL:.+]] = dtc.reduce_sum %[[ONES]] axes [0, 1, 2]
// CHECK: %[[N:.+]] = dtc.reshape %[[TOTAL]] : (tensor<1x1x1xf64>) -> tensor<f64>
// CHECK-DAG: %[[A:.+]] = dtc.reshape %[[SUM]] : (tensor<f64>) -> tensor<1xf64>
// CHECK-DAG: %[[B:.+]] = dtc.reshape %[[COUNT]] : (tensor<f64>) -> tensor<1xf64>
// CHECK-DAG: %[[C:.+]] = dtc.reshape %[[N]] : (tensor<f64>) -> tensor<1xf64>
// CHECK: %[[ALL:.+]] = dtc.concat %[[A]], %[[B]], %[[C]] axis 0
// CHECK: %[[EVAL:.+]] = dtc.sum_over_stages %[[ALL]] : (tensor<3xf64>) -> tensor<3xf64>
// CHECK: return %{{.+}}, %[[EVAL]], %{{.+}} : tensor<f64>, tensor<3xf64>, tensor<2x3x4xf32>

// An ignored label is neither counted nor right.

// IGNORE: dtc.cross_entropy %{{.+}}, %[[T:.+]] {ignore_index = -100 : i64}
// IGNORE: %[[COUNT:.+]] = dtc.count_labels %[[T]] {ignore_index = -100 : i64}
// IGNORE: %[[RIGHT:.+]] = dtc.compare gt
// IGNORE: %[[COUNTED:.+]] = dtc.compare ne
// IGNORE: %[[BOTH:.+]] = dtc.logical_and %[[RIGHT]], %[[COUNTED]]
// IGNORE: dtc.select %[[BOTH]]
// IGNORE: dtc.reshape %[[COUNT]] : (tensor<f64>) -> tensor<1xf64>
module {
  func.func @step(%z: tensor<2x3x4xf32> {dtc.parameter = "z"}, %t: tensor<2x3xi64> {dtc.input = "labels", dtc.kind = "label"})
      -> (tensor<f64> {dtc.output = "loss"}, tensor<2x3x4xf32> {dtc.output = "predictions"}, tensor<2x3x4xf32> {dtc.gradient = "z"}) {
    %s = dtc.sum_squares %z : (tensor<2x3x4xf32>) -> tensor<f64>
    return %s, %z, %z : tensor<f64>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  }
}
