// RUN: dtc-opt %s --dtc-plan-memory --dtc-poison-memory | FileCheck %s

#mesh = #dtc.mesh<pp=1, dp=1, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // The pass poisons a buffer after the last op that needs it or a view of it.
  // The caller owns results and arguments.
  // CHECK-LABEL: func.func private @forward
  // CHECK-NEXT: %[[A:.*]] = dtc.relu %{{.*}} {dtc.offsets = array<i64: [[X:[0-9]+]]>}
  // CHECK-NEXT: dtc.exp %[[A]] {dtc.offsets = array<i64: [[Y:[0-9]+]]>}
  // CHECK-NEXT: dtc.poison 64 at [[X]]
  // CHECK-NEXT: dtc.reshape
  // CHECK-NEXT: dtc.launch @kernels::@kernel_neg{{.*}}dtc.poison_scratch
  // CHECK-NEXT: dtc.poison 64 at [[Y]]
  // CHECK-NEXT: return
  func.func private @forward(%x: tensor<16xf32, #r>) -> tensor<4x4xf32, #r> {
    %0 = dtc.relu %x : (tensor<16xf32, #r>) -> tensor<16xf32, #r>
    %1 = dtc.exp %0 : (tensor<16xf32, #r>) -> tensor<16xf32, #r>
    %2 = dtc.reshape %1 : (tensor<16xf32, #r>) -> tensor<4x4xf32, #r>
    %3 = dtc.launch @kernels::@kernel_neg(%2) : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    return %3 : tensor<4x4xf32, #r>
  }

  // All but the argument at first, the frame after the run; what is returned
  // stays.
  // CHECK-LABEL: func.func @plan
  // CHECK-SAME: dtc.offset = [[P:[0-9]+]]
  // CHECK-SAME: dtc.arena_bytes
  // CHECK-NEXT: dtc.poison
  // CHECK: dtc.run @forward{{.*}} {dtc.frame_offset = [[F:[0-9]+]] : i64
  // CHECK-NEXT: dtc.poison 128 at [[F]]
  // CHECK-NEXT: return
  func.func @plan(%x: tensor<16xf32, #r> {dtc.input = "x", dtc.kind = "input"}) -> (tensor<4x4xf32, #r> {dtc.output = "loss"}) {
    %0 = dtc.run @forward(%x) : (tensor<16xf32, #r>) -> tensor<4x4xf32, #r>
    return %0 : tensor<4x4xf32, #r>
  }
}
module @kernels {
  func.func @kernel_neg(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dtc.kernel} {
    %0 = dtc.neg %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
}
