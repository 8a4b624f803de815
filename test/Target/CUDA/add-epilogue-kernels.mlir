// RUN: dtc-opt %s --dtc-add-epilogue-kernels | FileCheck %s
// RUN: dtc-opt %s --dtc-add-epilogue-kernels --dtc-compile-device-kernels | FileCheck %s --check-prefix=DEVICE

// Equal products share a kernel; one without the second result has its own.
// CHECK: module @stage0
// CHECK: dtc.matmul_epilogue gelu %{{.*}} {dtc.epilogue_kernel = @kernels::@kernel_after_gelu_sum_4x16xbf16}
// CHECK: dtc.matmul_epilogue gelu %{{.*}} {dtc.epilogue_kernel = @kernels::@kernel_after_gelu_4x16xbf16}
// CHECK: dtc.matmul_epilogue gelu_grad %{{.*}} {dtc.epilogue_kernel = @kernels::@kernel_after_gelu_grad_4x16xbf16, transpose_rhs}
// CHECK: dtc.matmul_epilogue add %{{.*}} {dtc.epilogue_kernel = @kernels::@kernel_after_add_4x16xbf16}
// CHECK: dtc.matmul_epilogue add %{{.*}} {dtc.epilogue_kernel = @kernels::@kernel_after_add_4x16xbf16}
// CHECK: dtc.matmul_epilogue add %{{.*}} {dtc.epilogue_kernel = @kernels::@kernel_after_add_bias_4x16xbf16}
// CHECK: dtc.matmul_epilogue relu %{{.*}} {dtc.epilogue_kernel = @kernels::@kernel_after_relu_4x16xbf16}
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @forward(%a: tensor<4x8xbf16>, %w: tensor<8x16xbf16>, %v: tensor<16x8xbf16>, %b: tensor<16xbf16>) -> tensor<4x16xbf16> {
    %0, %1 = dtc.matmul_epilogue gelu %a, %w, %b : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>)
    %2 = dtc.matmul_epilogue gelu %a, %w, %b : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
    %3 = dtc.matmul_epilogue gelu_grad %a, %v, %1 {transpose_rhs} : (tensor<4x8xbf16>, tensor<16x8xbf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
    %4 = dtc.matmul_epilogue add %a, %w, %3 : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
    %5 = dtc.matmul_epilogue add %a, %w, %4 : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
    %6 = dtc.matmul_epilogue add %a, %w, %5, %b : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<4x16xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
    %7 = dtc.matmul_epilogue relu %a, %w, %b : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
    return %7 : tensor<4x16xbf16>
  }
}

// All is computed in f32, and rounded once.
// CHECK: module @kernels
// CHECK: func.func @kernel_after_gelu_sum_4x16xbf16(%[[P:.*]]: tensor<4x16xbf16>, %[[B:.*]]: tensor<16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) attributes {dtc.kernel}
// CHECK: %[[WIDE:.*]] = dtc.cast %[[P]] : (tensor<4x16xbf16>) -> tensor<4x16xf32>
// CHECK: %[[ROW:.*]] = dtc.cast %[[B]] : (tensor<16xbf16>) -> tensor<16xf32>
// CHECK: %[[ROWS:.*]] = dtc.broadcast %[[ROW]]
// CHECK: %[[X:.*]] = dtc.add %[[WIDE]], %[[ROWS]]
// CHECK: dtc.tanh
// CHECK: %[[Y:.*]] = dtc.mul %[[X]]
// CHECK: %[[NARROW:.*]] = dtc.cast %[[Y]] : (tensor<4x16xf32>) -> tensor<4x16xbf16>
// CHECK: %[[SUM:.*]] = dtc.cast %[[X]]
// CHECK: return %[[NARROW]], %[[SUM]]
// CHECK: func.func @kernel_after_gelu_4x16xbf16
// CHECK: func.func @kernel_after_gelu_grad_4x16xbf16(%{{.*}}: tensor<4x16xbf16>, %{{.*}}: tensor<4x16xbf16>) -> tensor<4x16xbf16>
// CHECK: func.func @kernel_after_add_4x16xbf16
// CHECK: func.func @kernel_after_add_bias_4x16xbf16(%{{.*}}: tensor<4x16xbf16>, %{{.*}}: tensor<4x16xbf16>, %{{.*}}: tensor<16xbf16>)
// CHECK: func.func @kernel_after_relu_4x16xbf16
// CHECK: dtc.relu

// The kernel is as aligned as the product's buffers are.
// DEVICE: llvm.func @kernel_after_gelu_sum_4x16xbf16(%{{.*}}: !llvm.ptr {dtc.alignment = 64 : i64, llvm.readonly}
// DEVICE: llvm.call @dtcrt_launch
module @kernels {
}
