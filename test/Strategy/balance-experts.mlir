// RUN: dtc-opt %s --dtc-balance-experts="update=0.001 biases=b*" --split-input-file --verify-diagnostics | FileCheck %s

// The biases get a new value: more for experts with fewer rows than the mean.
// Those behind a product are none of the router's.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[B:[^:]+]]: tensor<4xf32> {dtc.frozen, dtc.parameter = "b", dtc.statistic}
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<4xf32> {dtc.parameter = "b"})
// CHECK: %[[H:.+]] = dtc.one_hot %{{.+}} : (tensor<8xi64>) -> tensor<8x4xi1>
// CHECK: %[[C:.+]] = dtc.cast %[[H]]
// CHECK: %[[N:.+]] = dtc.reduce_sum %[[C]] axes [0]
// CHECK: %[[S:.+]] = dtc.reduce_sum %[[N]] axes [1]
// CHECK: %[[M:.+]] = dtc.mul %[[S]], %{{.+}}
// CHECK-DAG: %[[L:.+]] = dtc.compare lt %[[N]], %[[M]]
// CHECK-DAG: %[[G:.+]] = dtc.compare gt %[[N]], %[[M]]
// CHECK: dtc.add %[[B]]
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"}, %r: tensor<4x4xf32> {dtc.parameter = "r"},
                %b: tensor<4xf32> {dtc.parameter = "b"}, %far: tensor<4xf32> {dtc.parameter = "before"}, %w: tensor<4x4x4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %h = dtc.add %x, %far : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %l = dtc.matmul %h, %r : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %s = dtc.add %l, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %m = dtc.reduce_max %s axes [1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %f = dtc.reshape %m : (tensor<8x1xf32>) -> tensor<8xf32>
  %e = dtc.cast %f : (tensor<8xf32>) -> tensor<8xi64>
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<8x4xf32>, tensor<4x4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  %loss = dtc.sum_squares %y : (tensor<8x4xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// expected-error @+1 {{has no biases for --expert-bias-update: expected names that match 'b*', of tensors with an element for each expert that a router adds to scores; --expert-biases says other names}}
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %loss = dtc.sum_squares %x : (tensor<8x4xf32>) -> tensor<f64>
  return %loss : tensor<f64>
}
