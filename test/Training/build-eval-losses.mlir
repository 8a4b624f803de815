// RUN: dtc-opt %s --dtc-build-eval=loss=mse | FileCheck %s --check-prefix=MSE
// RUN: dtc-opt %s --dtc-build-eval=loss=bce | FileCheck %s --check-prefix=BCE
// RUN: dtc-opt %s --dtc-build-eval=loss=output:y | FileCheck %s --check-prefix=OUTPUT
// RUN: not dtc-opt %s --dtc-build-eval=loss=mse --dtc-build-eval=loss=mse 2>&1 | FileCheck %s --check-prefix=TWICE

// Other losses. There are no right answers to the mean squared error and to a
// loss that the model computes. A sign is right if it times its target less a
// half is positive.

// MSE: dtc.sums = [{name = "loss", size = 1 : i64}, {name = "count", size = 1 : i64}]
// MSE: %[[SUM:.+]] = dtc.squared_error
// MSE: %[[COUNT:.+]] = dtc.constant dense<2.400000e+01>
// MSE: %[[A:.+]] = dtc.reshape %[[SUM]]
// MSE: %[[B:.+]] = dtc.reshape %[[COUNT]]
// MSE: dtc.concat %[[A]], %[[B]] axis 0

// BCE: {name = "right", size = 1 : i64}, {name = "class_hits", size = 4 : i64}, {name = "class_predictions", size = 4 : i64}, {name = "class_labels", size = 4 : i64}]
// BCE: dtc.relu
// BCE: dtc.constant dense<2.400000e+01>
// BCE: %[[HALF:.+]] = dtc.constant dense<5.000000e-01>
// BCE: %[[SIGN:.+]] = dtc.sub %{{.+}}, %[[HALF]]
// BCE: %[[SAME:.+]] = dtc.mul %{{.+}}, %[[SIGN]]
// BCE: dtc.compare gt %[[SAME]]
// BCE: dtc.logical_and

// OUTPUT: dtc.sums = [{name = "loss", size = 1 : i64}, {name = "count", size = 1 : i64}]
// OUTPUT: %[[SUM:.+]] = dtc.reduce_sum
// OUTPUT: dtc.constant dense<2.400000e+01>

// TWICE: error: no result with dtc.output = "predictions"; add a loss first
module {
  func.func @step(%x: tensor<6x4xf32> {dtc.parameter = "x"}, %t: tensor<6x4xf32> {dtc.input = "t", dtc.kind = "label"})
      -> (tensor<f64> {dtc.output = "loss"}, tensor<6x4xf32> {dtc.output = "predictions"}) {
    %s = dtc.sum_squares %x : (tensor<6x4xf32>) -> tensor<f64>
    return %s, %x : tensor<f64>, tensor<6x4xf32>
  }
}
