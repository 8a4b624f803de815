// RUN: dtc-opt %s --dtc-compile-kernels | FileCheck %s

// CHECK: module @stage0
// CHECK: func.func @forward
// CHECK: dtc.launch @kernels::@exp
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @forward(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = dtc.launch @kernels::@exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// CHECK: module @kernels
// CHECK: llvm.func @exp(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes {dtc.kernel}
// CHECK-NOT: llvm.call
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
module @kernels {
  func.func @exp(%x: tensor<8xf32>) -> tensor<8xf32> attributes {dtc.kernel} {
    %0 = dtc.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
