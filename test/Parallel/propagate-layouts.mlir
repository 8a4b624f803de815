// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 microbatches=2" --dtc-propagate-layouts | FileCheck %s

// CHECK-DAG: #[[P:.+]] = #dtc.layout<#{{.*}}, dp: partial(sum), mb: partial(sum)>
// CHECK-DAG: #[[R:.+]] = #dtc.layout<#mesh>
// CHECK-DAG: #[[B:.+]] = #dtc.layout<#mesh, mb: split(0), dp: split(0)>

// CHECK-LABEL: func @step
func.func @step(%x: tensor<32x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %t: tensor<32xi64> {dtc.input = "labels", dtc.kind = "label"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %w: tensor<4x4xf32> {dtc.parameter = "w"}) -> (tensor<f64>, tensor<4x4xf32>) {
  // CHECK: %[[Y:.*]] = dtc.matmul {{.*}} -> tensor<32x4xf32, #[[B]]>
  %y = dtc.matmul %x, %w : (tensor<32x4xf32>, tensor<4x4xf32>) -> tensor<32x4xf32>
  // CHECK: %[[L:.*]] = dtc.cross_entropy {{.*}} -> tensor<f64, #[[P]]>
  %sum = dtc.cross_entropy %y, %t {ignore_index = -1 : i64} : (tensor<32x4xf32>, tensor<32xi64>) -> tensor<f64>
  // The count is needed whole: of a quotient, only the numerator may be partial.
  // CHECK: %[[N:.*]] = dtc.count_labels {{.*}} -> tensor<f64, #[[P]]>
  // CHECK: %[[NR:.*]] = dtc.reshard %[[N]] : tensor<f64, #[[P]]> -> tensor<f64, #[[R]]>
  // CHECK: %[[MEAN:.*]] = dtc.div %[[L]], %[[NR]] {{.*}} -> tensor<f64, #[[P]]>
  %n = dtc.count_labels %t {ignore_index = -1 : i64} : (tensor<32xi64>) -> tensor<f64>
  %mean = dtc.div %sum, %n : (tensor<f64>, tensor<f64>) -> tensor<f64>
  // The second use of the whole count shares its reshard.
  // CHECK: %[[ONE:.*]] = dtc.constant
  // CHECK-NEXT: dtc.div %[[ONE]], %[[NR]]
  %one = dtc.constant dense<1.0> : tensor<f64> to tensor<f64>
  %g = dtc.div %one, %n : (tensor<f64>, tensor<f64>) -> tensor<f64>
  // CHECK: dtc.cross_entropy_grad {{.*}} -> tensor<32x4xf32, #[[B]]>
  %dy = dtc.cross_entropy_grad %y, %t, %g {ignore_index = -1 : i64} : (tensor<32x4xf32>, tensor<32xi64>, tensor<f64>) -> tensor<32x4xf32>
  // Nobody needs these: what they would need moved stays.
  // CHECK-NOT: dtc.split
  %parts:2 = dtc.split %dy axis 0 : (tensor<32x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>)
  %dead = dtc.neg %parts#0 : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // CHECK: %[[DW:.*]] = dtc.matmul {{.*}} -> tensor<4x4xf32, #[[P]]>
  %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  // Sums of partials are partial: a gradient is reduced once, before its update.
  // CHECK: %[[SUM:.*]] = dtc.add %[[DW]], %[[DW]] {{.*}} -> tensor<4x4xf32, #[[P]]>
  // CHECK: %[[G:.*]] = dtc.reshard %[[SUM]] : tensor<4x4xf32, #[[P]]> -> tensor<4x4xf32, #[[R]]>
  // CHECK: dtc.sgd %{{.*}}, %[[G]], %{{.*}} -> tensor<4x4xf32, #[[R]]>
  %dw2 = dtc.add %dw, %dw : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = dtc.sgd %w, %dw2, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f64>) -> tensor<4x4xf32>
  // CHECK: %[[MR:.*]] = dtc.reshard %[[MEAN]]
  // CHECK: return %[[MR]]
  return %mean, %w1 : tensor<f64>, tensor<4x4xf32>
}
