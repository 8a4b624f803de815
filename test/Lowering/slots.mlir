// RUN: dtc-opt %s --dtc-lower-plan | FileCheck %s
// RUN: dtc-opt %s --dtc-lower-plan --dtc-verify=invariant=lowered-communication -o /dev/null

// This pass numbers slots. A collective that the function starts and awaits has
// the first slot of collectives, one that it leaves to its caller the third.
// The send has the first slot of all, and the second send takes it again after
// the first is done.
#mesh = #dtc.mesh<pp=2, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
#s = #dtc.layout<#mesh, dp: partial(sum)>
module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    // CHECK-LABEL: llvm.func internal @stage0_prologue
    // CHECK: %[[LEFT:.*]] = llvm.mlir.constant(4098 : i32)
    // CHECK: llvm.call @dtcrt_all_gather_start(%{{[^,]*}}, %{{[^,]*}}, %[[LEFT]],
    // CHECK: %[[OWN:.*]] = llvm.mlir.constant(4096 : i32)
    // CHECK: llvm.call @dtcrt_all_reduce_start(%{{[^,]*}}, %{{[^,]*}}, %[[OWN]],
    // CHECK: %[[OWN:.*]] = llvm.mlir.constant(4096 : i32)
    // CHECK: llvm.call @dtcrt_wait(%{{[^,]*}}, %[[OWN]])
    func.func private @prologue(%p: tensor<4xf32, #d>, %n: tensor<4xf32, #s> {dtc.update = 1 : i64}) -> (tensor<4xf32, #r>, tensor<4xf32, #r>) attributes {dtc.frame_bytes = 0 : i64} {
      %0 = dtc.all_gather %p over ["dp"] dim 0 {dtc.async, dtc.offsets = array<i64: -1>} : (tensor<4xf32, #d>) -> tensor<4xf32, #r>
      %1 = dtc.all_reduce sum %n over ["dp"] {dtc.async, dtc.offsets = array<i64: -1>} : (tensor<4xf32, #s>) -> tensor<4xf32, #r>
      dtc.wait %1 : tensor<4xf32, #r>
      return %0, %1 : tensor<4xf32, #r>, tensor<4xf32, #r>
    }
    // CHECK-LABEL: llvm.func internal @stage0_forward
    // CHECK: %[[LEFT:.*]] = llvm.mlir.constant(4098 : i32)
    // CHECK: llvm.call @dtcrt_wait(%{{[^,]*}}, %[[LEFT]])
    func.func private @forward(%w: tensor<4xf32, #r>) attributes {dtc.frame_bytes = 0 : i64} {
      dtc.wait %w : tensor<4xf32, #r>
      return
    }
    // CHECK-LABEL: llvm.func @stage0_plan
    // CHECK: llvm.call @dtcrt_send(
    // CHECK: %[[SENT:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK-NEXT: llvm.call @dtcrt_wait(%{{[^,]*}}, %[[SENT]])
    // CHECK: llvm.call @dtcrt_send(
    // CHECK: %[[SENT:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK-NEXT: llvm.call @dtcrt_wait(%{{[^,]*}}, %[[SENT]])
    func.func @plan(%p: tensor<4xf32, #d> {dtc.offset = 0 : i64, dtc.parameter = "p"}, %n: tensor<4xf32, #s> {dtc.offset = 64 : i64, dtc.parameter = "n"}) attributes {dtc.arena_bytes = 256 : i64} {
      %0:2 = dtc.run @prologue(%p, %n) {dtc.frame_offset = 192 : i64, dtc.offsets = array<i64: 128, 64>} : (tensor<4xf32, #d>, tensor<4xf32, #s>) -> (tensor<4xf32, #r>, tensor<4xf32, #r>)
      %1 = dtc.send %0#1 to 1 tag 0 {dtc.offsets = array<i64: 64>} : tensor<4xf32, #r>
      dtc.run @forward(%0#0) {dtc.frame_offset = 192 : i64, dtc.offsets = array<i64>} : (tensor<4xf32, #r>) -> ()
      dtc.wait %1 : tensor<4xf32, #r>
      %2 = dtc.send %0#1 to 1 tag 1 {dtc.offsets = array<i64: 64>} : tensor<4xf32, #r>
      dtc.wait %2 : tensor<4xf32, #r>
      return
    }
  }
  module @stage1 attributes {dtc.stage = 1 : i64} {
    // Two messages in flight have two slots.
    // CHECK-LABEL: llvm.func @stage1_plan
    // CHECK-COUNT-2: llvm.call @dtcrt_recv(
    // CHECK: %[[FIRST:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK-NEXT: llvm.call @dtcrt_wait(%{{[^,]*}}, %[[FIRST]])
    // CHECK: %[[SECOND:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK-NEXT: llvm.call @dtcrt_wait(%{{[^,]*}}, %[[SECOND]])
    func.func @plan() attributes {dtc.arena_bytes = 128 : i64} {
      %0 = dtc.recv from 0 tag 0 {dtc.offsets = array<i64: 0>} : tensor<4xf32, #r>
      %1 = dtc.recv from 0 tag 1 {dtc.offsets = array<i64: 64>} : tensor<4xf32, #r>
      dtc.wait %0 : tensor<4xf32, #r>
      dtc.wait %1 : tensor<4xf32, #r>
      return
    }
  }
}
