// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: the transpose of each movement.

// CHECK-LABEL: module @reshape
// CHECK: %[[Y:.+]] = dtc.reshape
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.reshape %[[G]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @reshape {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.reshape %x : (tensor<2x4xf32>) -> tensor<8xf32>
    %l = dtc.sum_squares %y : (tensor<8xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @transpose
// CHECK: %[[Y:.+]] = dtc.transpose
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.transpose %[[G]] [2, 0, 1] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @transpose {
  func.func @step(%x: tensor<2x3x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.transpose %x [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
    %l = dtc.sum_squares %y : (tensor<3x4x2xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @broadcast
// CHECK: %[[Y:.+]] = dtc.broadcast
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.reduce_sum %[[G]] axes [0, 2] :
// CHECK-NEXT: %[[V2:.+]] = dtc.reshape %[[V1]] :
// CHECK-NEXT: return %[[L]], %[[V2]]
module @broadcast {
  func.func @step(%x: tensor<3x1xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.broadcast %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x3x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @slice
// CHECK: %[[Y:.+]] = dtc.slice
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.pad %[[G]] axis 1 at 1 :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @slice {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.slice %x axis 1 from 1 : (tensor<2x4xf32>) -> tensor<2x2xf32>
    %l = dtc.sum_squares %y : (tensor<2x2xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @pad
// CHECK: %[[Y:.+]] = dtc.pad
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.slice %[[G]] axis 0 from 1 :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @pad {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.pad %x axis 0 at 1 : (tensor<2x4xf32>) -> tensor<4x4xf32>
    %l = dtc.sum_squares %y : (tensor<4x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @split
// CHECK: %[[S:.+]]:2 = dtc.split
// CHECK: %[[Y:.+]] = dtc.mul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[G]], %[[S]]#1 :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[S]]#0 :
// CHECK-NEXT: %[[V3:.+]] = dtc.concat %[[V1]], %[[V2]] axis 1 :
// CHECK-NEXT: return %[[L]], %[[V3]]
module @split {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %a, %b = dtc.split %x axis 1 : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
    %y = dtc.mul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %l = dtc.sum_squares %y : (tensor<2x2xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// The part that is not used has no gradient.
// CHECK-LABEL: module @split_in_part
// CHECK: %[[S:.+]]:3 = dtc.split
// CHECK: %[[Y:.+]] = dtc.mul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[G]], %[[S]]#2 :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[S]]#0 :
// CHECK-NEXT: %[[V3:.+]] = dtc.pad %[[V1]] axis 1 at 0 :
// CHECK-NEXT: %[[V4:.+]] = dtc.pad %[[V2]] axis 1 at 4 :
// CHECK-NEXT: %[[V5:.+]] = dtc.add %[[V3]], %[[V4]] :
// CHECK-NEXT: return %[[L]], %[[V5]]
module @split_in_part {
  func.func @step(%x: tensor<2x6xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %a, %b, %c = dtc.split %x axis 1 : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
    %y = dtc.mul %a, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %l = dtc.sum_squares %y : (tensor<2x2xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @concat
// CHECK: %[[Y:.+]] = dtc.concat
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]]:2 = dtc.split %[[G]] axis 1 :
// CHECK-NEXT: return %[[L]], %[[V1]]#0, %[[V1]]#1
module @concat {
  func.func @step(%a: tensor<2x1xf32> {dtc.parameter = "a"}, %b: tensor<2x3xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.concat %a, %b axis 1 : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
