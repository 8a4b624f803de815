// RUN: dtc-opt %s --canonicalize=top-down=false --split-input-file | FileCheck %s

// Between two convolutions nothing is transposed but the bias of the channels:
// neither a scalar nor the sum of two images needs it.

// CHECK-LABEL: module @residual
// CHECK: @forward(%[[X:[^:]+]]: tensor<2x8x6x4xf32>, %[[Z:[^:]+]]: tensor<2x8x6x4xf32>, %[[B:[^:]+]]: tensor<4x1x1xf32>)
// CHECK: %[[C:.+]] = dtc.constant
// CHECK: %[[B4:.+]] = dtc.reshape %[[B]] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
// CHECK: %[[BL:.+]] = dtc.transpose %[[B4]] [0, 2, 3, 1] : (tensor<1x4x1x1xf32>) -> tensor<1x1x1x4xf32>
// CHECK: %[[S:.+]] = dtc.add %[[X]], %[[BL]] : (tensor<2x8x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<2x8x6x4xf32>
// CHECK: %[[M:.+]] = dtc.mul %[[S]], %[[C]] : (tensor<2x8x6x4xf32>, tensor<f32>) -> tensor<2x8x6x4xf32>
// CHECK: %[[R:.+]] = dtc.add %[[M]], %[[Z]] : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
// CHECK-NEXT: return %[[R]]
module @residual {
  func.func @forward(%x: tensor<2x8x6x4xf32>, %z: tensor<2x8x6x4xf32>, %b: tensor<4x1x1xf32>) -> tensor<2x8x6x4xf32> {
    %c = dtc.constant dense<2.0> : tensor<f32> to tensor<f32>
    %0 = dtc.transpose %x [0, 3, 1, 2] : (tensor<2x8x6x4xf32>) -> tensor<2x4x8x6xf32>
    %1 = dtc.add %0, %b : (tensor<2x4x8x6xf32>, tensor<4x1x1xf32>) -> tensor<2x4x8x6xf32>
    %2 = dtc.mul %1, %c : (tensor<2x4x8x6xf32>, tensor<f32>) -> tensor<2x4x8x6xf32>
    %3 = dtc.transpose %z [0, 3, 1, 2] : (tensor<2x8x6x4xf32>) -> tensor<2x4x8x6xf32>
    %4 = dtc.add %2, %3 : (tensor<2x4x8x6xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
    %5 = dtc.transpose %4 [0, 2, 3, 1] : (tensor<2x4x8x6xf32>) -> tensor<2x8x6x4xf32>
    return %5 : tensor<2x8x6x4xf32>
  }
}

// -----

// Axes are those of the same dimensions.

// CHECK-LABEL: module @axes
// CHECK: %[[C:.+]] = dtc.concat %{{.+}}, %{{.+}} axis 3 : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x8xf32>
// CHECK: %[[S:.+]] = dtc.slice %[[C]] axis 1 from 2 : (tensor<2x8x6x8xf32>) -> tensor<2x5x6x8xf32>
// CHECK: %[[P:.+]] = dtc.pad %[[S]] axis 2 at 1 : (tensor<2x5x6x8xf32>) -> tensor<2x5x9x8xf32>
// CHECK: %[[R:.+]] = dtc.reduce_sum %[[P]] axes [1, 2] : (tensor<2x5x9x8xf32>) -> tensor<2x1x1x8xf32>
// CHECK: %[[T:.+]] = dtc.transpose %[[R]] [0, 3, 1, 2] : (tensor<2x1x1x8xf32>) -> tensor<2x8x1x1xf32>
// CHECK: return %[[T]]
module @axes {
  func.func @forward(%x: tensor<2x8x6x4xf32>) -> tensor<2x8x1x1xf32> {
    %0 = dtc.transpose %x [0, 3, 1, 2] : (tensor<2x8x6x4xf32>) -> tensor<2x4x8x6xf32>
    %1 = dtc.relu %0 : (tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
    %2 = dtc.concat %0, %1 axis 1 : (tensor<2x4x8x6xf32>, tensor<2x4x8x6xf32>) -> tensor<2x8x8x6xf32>
    %3 = dtc.slice %2 axis 2 from 2 : (tensor<2x8x8x6xf32>) -> tensor<2x8x5x6xf32>
    %4 = dtc.pad %3 axis 3 at 1 : (tensor<2x8x5x6xf32>) -> tensor<2x8x5x9xf32>
    %5 = dtc.reduce_sum %4 axes [2, 3] : (tensor<2x8x5x9xf32>) -> tensor<2x8x1x1xf32>
    return %5 : tensor<2x8x1x1xf32>
  }
}

// -----

// Images that are channels first anyway would have to be transposed instead,
// and other transposes are none of images.

// CHECK-LABEL: module @stays
// CHECK: dtc.transpose %{{.+}} [0, 3, 1, 2]
// CHECK-NEXT: dtc.add
// CHECK-NEXT: dtc.transpose %{{.+}} [0, 2, 1, 3]
// CHECK-NEXT: dtc.relu
// CHECK-NEXT: return
module @stays {
  func.func @forward(%x: tensor<2x8x6x4xf32>, %y: tensor<2x4x8x6xf32>) -> tensor<2x8x4x6xf32> {
    %0 = dtc.transpose %x [0, 3, 1, 2] : (tensor<2x8x6x4xf32>) -> tensor<2x4x8x6xf32>
    %1 = dtc.add %0, %y : (tensor<2x4x8x6xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
    %2 = dtc.transpose %1 [0, 2, 1, 3] : (tensor<2x4x8x6xf32>) -> tensor<2x8x4x6xf32>
    %3 = dtc.relu %2 : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32>
    return %3 : tensor<2x8x4x6xf32>
  }
}
