// Launches and library calls of a training step have FLOPs and bytes of a rank,
// and the module what the model asks for.
//
// RUN: dtc-opt %s --dtc-record-work | FileCheck %s --implicit-check-not=dtc.work

#mesh = #dtc.mesh<dp=2, mb=3>
#b = #dtc.layout<#mesh, dp: split(0)>
#r = #dtc.layout<#mesh>

// A forward pass of a micro-batch is 2 x 8 x 4 x 5 = 320 FLOPs on both ranks;
// three times that for a step, of two micro-batches here.
// CHECK: module attributes {dtc.model_flops = 1920 : i64}
module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @forward(%x: tensor<8x4xf32, #b>, %w: tensor<4x5xf32, #r>) -> tensor<8x5xf32, #b> attributes {dtc.phase = #dtc.phase<forward>} {
      // Half of the rows: 160 FLOPs; 16 + 20 elements are read, 20 written.
      // CHECK: dtc.matmul %{{.*}} {dtc.work = array<i64: 160, 224>}
      %0 = dtc.matmul %x, %w : (tensor<8x4xf32, #b>, tensor<4x5xf32, #r>) -> tensor<8x5xf32, #b>
      // CHECK: dtc.launch @kernels::@kernel_add(%{{.*}}) {dtc.work = array<i64: 20, 160>}
      %1 = dtc.launch @kernels::@kernel_add(%0) : (tensor<8x5xf32, #b>) -> tensor<8x5xf32, #b>
      return %1 : tensor<8x5xf32, #b>
    }
    func.func @plan(%x: tensor<8x4xf32, #b>, %w: tensor<4x5xf32, #r>) {
      %0 = dtc.run @forward(%x, %w) microbatch 0 : (tensor<8x4xf32, #b>, tensor<4x5xf32, #r>) -> tensor<8x5xf32, #b>
      %1 = dtc.run @forward(%x, %w) microbatch 1 : (tensor<8x4xf32, #b>, tensor<4x5xf32, #r>) -> tensor<8x5xf32, #b>
      return
    }
  }
  // Nobody looks at an evaluation.
  module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
    func.func private @forward(%x: tensor<8x5xf32, #b>) -> tensor<8x5xf32, #b> attributes {dtc.phase = #dtc.phase<forward>} {
      %0 = dtc.launch @kernels::@kernel_add(%x) : (tensor<8x5xf32, #b>) -> tensor<8x5xf32, #b>
      return %0 : tensor<8x5xf32, #b>
    }
    func.func @plan(%x: tensor<8x5xf32, #b>) {
      %0 = dtc.run @forward(%x) microbatch 0 : (tensor<8x5xf32, #b>) -> tensor<8x5xf32, #b>
      return
    }
  }
  module @kernels {
    func.func @kernel_add(%x: tensor<4x5xf32>) -> tensor<4x5xf32> attributes {dtc.kernel} {
      %0 = dtc.add %x, %x : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
      return %0 : tensor<4x5xf32>
    }
  }
}
