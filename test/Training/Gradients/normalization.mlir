// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: elementwise ops and sums over the last dimension.

// CHECK-LABEL: module @softmax
// CHECK: %[[Y:.+]] = dtc.softmax
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[G]], %[[Y]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.reduce_sum %[[V1]] axes [1] :
// CHECK-NEXT: %[[V3:.+]] = dtc.sub %[[G]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.mul %[[V3]], %[[Y]] :
// CHECK-NEXT: return %[[L]], %[[V4]]
module @softmax {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.softmax %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @log_softmax
// CHECK: %[[Y:.+]] = dtc.log_softmax
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.exp %[[Y]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.reduce_sum %[[G]] axes [1] :
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[V1]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.sub %[[G]], %[[V3]] :
// CHECK-NEXT: return %[[L]], %[[V4]]
module @log_softmax {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.log_softmax %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @layer_norm
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = dtc.layer_norm
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.sub %[[X]], %[[MEAN]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[V1]], %[[RSTD]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[G]], %[[SCALE]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.reduce_sum %[[V3]] axes [1] :
// CHECK-NEXT: %[[V5:.+]] = dtc.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: %[[V6:.+]] = dtc.mul %[[V4]], %[[V5]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.mul %[[V3]], %[[V2]] :
// CHECK-NEXT: %[[V8:.+]] = dtc.reduce_sum %[[V7]] axes [1] :
// CHECK-NEXT: %[[V9:.+]] = dtc.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: %[[V10:.+]] = dtc.mul %[[V8]], %[[V9]] :
// CHECK-NEXT: %[[V11:.+]] = dtc.sub %[[V3]], %[[V6]] :
// CHECK-NEXT: %[[V12:.+]] = dtc.mul %[[V2]], %[[V10]] :
// CHECK-NEXT: %[[V13:.+]] = dtc.sub %[[V11]], %[[V12]] :
// CHECK-NEXT: %[[V14:.+]] = dtc.mul %[[RSTD]], %[[V13]] :
// CHECK-NEXT: %[[V15:.+]] = dtc.mul %[[G]], %[[V2]] :
// CHECK-NEXT: %[[V16:.+]] = dtc.reduce_sum %[[V15]] axes [0] :
// CHECK-NEXT: %[[V17:.+]] = dtc.reshape %[[V16]] :
// CHECK-NEXT: %[[V18:.+]] = dtc.reduce_sum %[[G]] axes [0] :
// CHECK-NEXT: %[[V19:.+]] = dtc.reshape %[[V18]] :
// CHECK-NEXT: return %[[L]], %[[V14]], %[[V17]], %[[V19]]
module @layer_norm {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}, %scale: tensor<4xf32> {dtc.parameter = "scale"}, %bias: tensor<4xf32> {dtc.parameter = "bias"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y, %mean, %rstd = dtc.layer_norm %x, %scale, %bias {epsilon = 1.0e-5 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @layer_norm_rstd
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Z:.+]], %[[MEAN:.+]], %[[Y:.+]] = dtc.layer_norm
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.sub %[[X]], %[[MEAN]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[V1]], %[[Y]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[Y]], %[[Y]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.mul %[[G]], %[[V3]] :
// CHECK-NEXT: %[[V5:.+]] = dtc.constant dense<-2.500000e-01> : tensor<f32>
// CHECK-NEXT: %[[V6:.+]] = dtc.mul %[[V4]], %[[V5]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.mul %[[V2]], %[[V6]] :
// CHECK-NEXT: return %[[L]], %[[V7]]
module @layer_norm_rstd {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}, %scale: tensor<4xf32> {dtc.input = "scale"}, %bias: tensor<4xf32> {dtc.input = "bias"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %z, %mean, %y = dtc.layer_norm %x, %scale, %bias {epsilon = 1.0e-5 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    %l = dtc.sum_squares %y : (tensor<2x1xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
