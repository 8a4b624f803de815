// RUN: dtc-opt %s --dtc-mixed-precision=type=bf16 | FileCheck %s
// RUN: dtc-opt %s --dtc-mixed-precision=type=bf16 --dtc-differentiate | FileCheck %s --check-prefix=GRAD
// RUN: dtc-opt %s --dtc-mixed-precision=type=fp16 --dtc-differentiate --dtc-add-optimizer=optimizer=sgd | FileCheck %s --check-prefix=FP16
// RUN: dtc-opt %s --dtc-mixed-precision=type=fp32 | FileCheck %s --check-prefix=SAME
// RUN: not dtc-opt %s --dtc-mixed-precision=type=f8 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: --precision is 'f8', expected fp32, bf16 or fp16
// SAME-NOT: bf16

// The pass casts trained parameters and model inputs where an op uses them. It
// does not cast buffers, labels and values computed from these alone.
// CHECK-LABEL: @step
// CHECK-SAME: (%[[X:[^:]+]]: tensor<8x4xf32> {{.+}}, %[[LABELS:[^:]+]]: tensor<8x4xf32> {{.+}}, %[[W:[^:]+]]: tensor<4x4xf32> {{.+}}, %[[B:[^:]+]]: tensor<4xf32> {{.+}}, %[[FREQ:[^:]+]]: tensor<1x4xf32>
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %labels: tensor<8x4xf32> {dtc.input = "labels", dtc.kind = "label"},
                %w: tensor<4x4xf32> {dtc.parameter = "w"},
                %b: tensor<4xf32> {dtc.parameter = "b"},
                %freq: tensor<1x4xf32> {dtc.parameter = "freq", dtc.frozen})
    -> (tensor<f64> {dtc.output = "loss"}) {
  // CHECK-DAG: %[[NX:.+]] = dtc.cast %[[X]] : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  // CHECK-DAG: %[[NW:.+]] = dtc.cast %[[W]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  // CHECK: %[[H:.+]] = dtc.matmul %[[NX]], %[[NW]] : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xbf16>
  %h = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[NB:.+]] = dtc.cast %[[B]]
  // CHECK: %[[S:.+]] = dtc.add %[[H]], %[[NB]] : (tensor<8x4xbf16>, tensor<4xbf16>) -> tensor<8x4xbf16>
  %s = dtc.add %h, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[C:.+]] = dtc.cos %[[FREQ]] : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = dtc.cos %freq : (tensor<1x4xf32>) -> tensor<1x4xf32>
  // CHECK: %[[R:.+]] = dtc.mul %[[S]], %[[C]] : (tensor<8x4xbf16>, tensor<1x4xf32>) -> tensor<8x4xbf16>
  %r = dtc.mul %s, %c : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  // Sums are f32, and so is what is computed from them alone.
  // CHECK: %[[SUM:.+]] = dtc.reduce_sum %[[R]] axes [1] : (tensor<8x4xbf16>) -> tensor<8x1xf32>
  %sum = dtc.reduce_sum %r axes [1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  // CHECK: %[[E:.+]] = dtc.exp %[[SUM]] : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %e = dtc.exp %sum : (tensor<8x1xf32>) -> tensor<8x1xf32>
  // CHECK: %[[Y:.+]] = dtc.mul %[[R]], %[[E]] : (tensor<8x4xbf16>, tensor<8x1xf32>) -> tensor<8x4xbf16>
  %y = dtc.mul %r, %e : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  // CHECK: %[[WIDE:.+]] = dtc.cast %[[Y]] : (tensor<8x4xbf16>) -> tensor<8x4xf32>
  // CHECK: dtc.squared_error %[[WIDE]], %[[LABELS]]
  %l = dtc.squared_error %y, %labels : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f64>
  return %l : tensor<f64>
}

// A gradient of a parameter is f32 where it is summed up: not rounded first.
// GRAD-LABEL: @step
// GRAD: dtc.reduce_sum %{{.+}} axes [0] : (tensor<8x4xbf16>) -> tensor<1x4xf32>
// GRAD: %[[DW:.+]] = dtc.matmul %{{.+}}, %{{.+}} {transpose_lhs} : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
// GRAD: return %{{.+}}, %[[DW]], %{{.+}} : tensor<f64>, tensor<4x4xf32>, tensor<4xf32>

// Gradients begin at the loss's scale; updates divide by it, and are skipped
// where it overflows.
// FP16-LABEL: @step
// FP16-SAME: %[[SCALE:[^:]+]]: tensor<f64> {dtc.input = "loss_scale", dtc.kind = "loss_scale"}
// FP16: dtc.mul %[[SCALE]]
// FP16: %[[NORM:.+]] = dtc.sqrt
// FP16: %[[TRUE:.+]] = dtc.div %[[NORM]], %[[SCALE]]
// FP16: %[[G:.+]] = dtc.clip_by_norm %{{.+}}, %[[TRUE]], %[[SCALE]] {max_norm = 0x7FF0000000000000 : f64} : (tensor<4x4xf32>, tensor<f64>, tensor<f64>) -> tensor<4x4xf32>
// FP16: dtc.sgd %{{.+}}, %[[G]], %{{.+}} {dtc.skip_nan
