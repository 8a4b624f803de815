// RUN: dtc-opt %s --dtc-mixed-precision=type=bf16 | FileCheck %s

// Scores that decide indices stay f32, and are of weights that are not rounded:
// rounding could exchange two nearly equal ones. Other products are bf16.
// CHECK-LABEL: @step
// CHECK-SAME: %{{.+}}: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"}, %[[IN:.+]]: tensor<4x4xf32> {dtc.parameter = "in"}, %[[ROUTER:.+]]: tensor<4x3xf32> {dtc.parameter = "router"}, %[[EXPERTS:.+]]: tensor<3x4x5xf32>
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %in: tensor<4x4xf32> {dtc.parameter = "in"},
                %router: tensor<4x3xf32> {dtc.parameter = "router"},
                %experts: tensor<3x4x5xf32> {dtc.parameter = "experts"},
                %labels: tensor<8x5xf32> {dtc.input = "labels", dtc.kind = "label"})
    -> (tensor<f64> {dtc.output = "loss"}) {
  // CHECK: %[[H:.+]] = dtc.matmul %{{.+}}, %{{.+}} : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xbf16>
  %h = dtc.matmul %x, %in : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[WIDE:.+]] = dtc.cast %[[H]] : (tensor<8x4xbf16>) -> tensor<8x4xf32>
  // CHECK: %[[SCORES:.+]] = dtc.matmul %[[WIDE]], %[[ROUTER]] : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %scores = dtc.matmul %h, %router : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %best = dtc.reduce_max %scores axes [1] : (tensor<8x3xf32>) -> tensor<8x1xf32>
  %is = dtc.compare ge %scores, %best : (tensor<8x3xf32>, tensor<8x1xf32>) -> tensor<8x3xi1>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %numbers = dtc.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32> to tensor<3xf32>
  %of = dtc.select %is, %numbers, %zero : (tensor<8x3xi1>, tensor<3xf32>, tensor<f32>) -> tensor<8x3xf32>
  %number = dtc.reduce_max %of axes [1] : (tensor<8x3xf32>) -> tensor<8x1xf32>
  %flat = dtc.reshape %number : (tensor<8x1xf32>) -> tensor<8xf32>
  %index = dtc.cast %flat : (tensor<8xf32>) -> tensor<8xi64>
  // CHECK: %[[NARROW:.+]] = dtc.cast %[[EXPERTS]] : (tensor<3x4x5xf32>) -> tensor<3x4x5xbf16>
  // CHECK: dtc.grouped_matmul %[[H]], %{{.+}}, %{{.+}} : (tensor<8x4xbf16>, tensor<3x4x5xbf16>, tensor<8xi64>) -> tensor<8x5xbf16>
  %y = dtc.grouped_matmul %h, %experts, %index : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<8xi64>) -> tensor<8x5xf32>
  // CHECK: %[[WEIGHTED:.+]] = dtc.mul %{{.+}}, %{{.+}} : (tensor<8x5xbf16>, tensor<8x1xf32>) -> tensor<8x5xbf16>
  %weighted = dtc.mul %y, %best : (tensor<8x5xf32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  %l = dtc.squared_error %weighted, %labels : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<f64>
  return %l : tensor<f64>
}
