// RUN: dtc-opt %s --dtc-compile-kernels="vector-bits=512" | FileCheck %s

// Integers round to bf16 on all CPUs: LLVM 22 cannot select some shuffles of
// what AVX512_BF16's instruction makes, which llvm.fptrunc would become.
// CHECK-LABEL: llvm.func @round
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.lshr {{.*}} : vector<16xi32>
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.return
module {
  module @kernels {
    func.func @round(%x: tensor<32xf32>) -> tensor<32xbf16> attributes {dtc.kernel} {
      %y = dtc.cast %x : (tensor<32xf32>) -> tensor<32xbf16>
      return %y : tensor<32xbf16>
    }
  }
}
