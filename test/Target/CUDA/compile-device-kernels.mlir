// RUN: dtc-opt %s --dtc-compile-device-kernels | FileCheck %s
// RUN: dtc-opt %s --dtc-compile-device-kernels=emulate | FileCheck %s --check-prefix=EMULATED

// CHECK: module @stage0
// CHECK: dtc.launch @kernels::@exp
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @forward(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = dtc.launch @kernels::@exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// Device code calls no function, the hardware computes 2^x, and the code's accesses are as wide as the launches allow.
// CHECK: module @kernels
// CHECK: gpu.module @device
// CHECK: llvm.func @exp_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-SAME: nvvm.kernel
// CHECK-NOT: llvm.call @
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.call @
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: llvm.call @
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
// CHECK: llvm.func @exp(%{{.*}}: !llvm.ptr {dtc.alignment = 64 : i64, llvm.readonly}, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes {dtc.kernel}
// CHECK: llvm.call @dtcrt_launch

// EMULATED: llvm.func @device_exp_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// EMULATED: llvm.func @exp(
// EMULATED: llvm.call @dtcrt_launch
module @kernels {
  func.func @exp(%x: tensor<8xf32>) -> tensor<8xf32> attributes {dtc.kernel} {
    %0 = dtc.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
