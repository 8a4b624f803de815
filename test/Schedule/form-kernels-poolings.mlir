// RUN: dtc-opt --split-input-file --dtc-form-kernels %s | FileCheck %s --check-prefix=LIBRARY
// RUN: not dtc-opt --split-input-file --dtc-form-kernels=poolings %s 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR --input-file %t

// A pooling is a call of a library, or a kernel of its own.

module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    // LIBRARY-LABEL: func.func @forward
    // LIBRARY: dtc.launch @kernels::@kernel_relu
    // LIBRARY: dtc.max_pool2d
    // LIBRARY: dtc.launch @kernels::@kernel_tanh
    // CHECK-LABEL: func.func @forward
    // CHECK: dtc.launch @kernels::@kernel_relu
    // CHECK: dtc.launch @kernels::@kernel_max_pool2d
    // CHECK: dtc.launch @kernels::@kernel_tanh
    func.func @forward(%x: tensor<2x4x4x8xf32>) -> tensor<2x2x2x8xf32> {
      %0 = dtc.relu %x : (tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
      %1 = dtc.max_pool2d %0 kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x4x4x8xf32>) -> tensor<2x2x2x8xf32>
      %2 = dtc.tanh %1 : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8xf32>
      return %2 : tensor<2x2x2x8xf32>
    }
  }
}

// -----

module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    // LIBRARY: dtc.sum_pool2d
    func.func @forward(%x: tensor<2x32x32x8xf32>) -> tensor<2x1x1x8xf32> {
      // ERROR: 'dtc.sum_pool2d' op has a window of 32 x 32, expected at most 256 elements on a target without a library for poolings
      %0 = dtc.sum_pool2d %x kernel [32, 32] strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x32x32x8xf32>) -> tensor<2x1x1x8xf32>
      return %0 : tensor<2x1x1x8xf32>
    }
  }
}
