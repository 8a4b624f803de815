// RUN: dtc-opt %s --dtc-lower-plan | FileCheck %s
// RUN: dtc-opt %s --dtc-lower-plan --dtc-verify=invariant=lowered-communication -o /dev/null

// Shares that alternate in blocks are put in order in scratch, before and after
// the exchange; what starts has one block.
#mesh = #dtc.mesh<dp=2, mb=1>
#r = #dtc.layout<#mesh>
#d0 = #dtc.layout<#mesh, dp: split(0)>
#d1 = #dtc.layout<#mesh, dp: split(1)>
#d2 = #dtc.layout<#mesh, dp: split(2)>

// CHECK: module attributes {dtc.manifest = "{{.*}}\22permutations\22:{{\[\[}}1,0]]
// Both buffers of the second exchange are in blocks: 64 + 64 bytes of scratch
// behind the plan's 512.
// CHECK-SAME: \22arena_bytes\22:640
module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    // CHECK-LABEL: llvm.func internal @stage0_exchange
    // CHECK-SAME: (%[[CTX:.*]]: !llvm.ptr, %[[FRAME:.*]]: !llvm.ptr, %[[SCRATCH:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr)
    // x is 2 x 4 of 4 x 4 elements. Columns are split in each of its rows, which
    // are whole in the result.
    // CHECK-DAG: %[[IN:.*]] = llvm.mlir.constant(2 : i64)
    // CHECK-DAG: %[[OUT:.*]] = llvm.mlir.constant(1 : i64)
    // CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
    // CHECK: llvm.call @dtcrt_all_to_all(%[[CTX]], %{{[^,]*}}, %[[X]], %[[FRAME]], %[[SCRATCH]], %[[IN]], %[[OUT]], %[[BYTES]])
    // y is 2 x 2 x 4 of 2 x 4 x 4 elements.
    // CHECK-DAG: %[[IN:.*]] = llvm.mlir.constant(4 : i64)
    // CHECK-DAG: %[[OUT:.*]] = llvm.mlir.constant(2 : i64)
    // CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
    // CHECK: llvm.call @dtcrt_all_to_all(%[[CTX]], %{{[^,]*}}, %[[Y]], %{{[^,]*}}, %[[SCRATCH]], %[[IN]], %[[OUT]], %[[BYTES]])
    // CHECK: llvm.call @dtcrt_collective_permute(%[[CTX]], %{{[^,]*}}, %{{[^,]*}}, %[[X]], %{{[^,]*}}, %{{[^,]*}})
    // CHECK: %[[SLOT:.*]] = llvm.mlir.constant(4096 : i32)
    // CHECK: llvm.call @dtcrt_collective_permute_start(%[[CTX]], %{{[^,]*}}, %[[SLOT]], %{{[^,]*}}, %[[X]], %{{[^,]*}}, %{{[^,]*}})
    // CHECK: llvm.call @dtcrt_wait
    func.func private @exchange(%x: tensor<4x4xf32, #d0>, %y: tensor<2x4x4xf32, #d1>) attributes {dtc.frame_bytes = 256 : i64} {
      %0 = dtc.all_to_all %x over ["dp"] from 0 to 1 {dtc.offsets = array<i64: 0>} : (tensor<4x4xf32, #d0>) -> tensor<4x4xf32, #d1>
      %1 = dtc.all_to_all %y over ["dp"] from 1 to 2 {dtc.offsets = array<i64: 64>} : (tensor<2x4x4xf32, #d1>) -> tensor<2x4x4xf32, #d2>
      %2 = dtc.collective_permute %x over ["dp"] sources [1, 0] {dtc.offsets = array<i64: 128>} : (tensor<4x4xf32, #d0>) -> tensor<4x4xf32, #d0>
      %3 = dtc.collective_permute %x over ["dp"] sources [1, 0] {dtc.async, dtc.offsets = array<i64: 192>} : (tensor<4x4xf32, #d0>) -> tensor<4x4xf32, #d0>
      dtc.wait %3 : tensor<4x4xf32, #d0>
      return
    }
    func.func @plan(%x: tensor<4x4xf32, #d0> {dtc.offset = 0 : i64, dtc.parameter = "x"}, %y: tensor<2x4x4xf32, #d1> {dtc.offset = 64 : i64, dtc.parameter = "y"}) attributes {dtc.arena_bytes = 512 : i64} {
      dtc.run @exchange(%x, %y) {dtc.frame_offset = 128 : i64, dtc.offsets = array<i64>} : (tensor<4x4xf32, #d0>, tensor<2x4x4xf32, #d1>) -> ()
      return
    }
  }
}
