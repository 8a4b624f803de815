// RUN: dtc-opt %s --dtc-lower-plan --split-input-file --verify-diagnostics | FileCheck %s

// An evaluation's functions have names of their own; the manifest has the place
// of its result beside those of the step's.

#mesh = #dtc.mesh<pp=1, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, pp: partial>

// CHECK: module attributes {dtc.manifest = "{{.*}}\22stages\22:[{\22arena_bytes\22:192,\22eval\22:64,\22inputs\22:[],\22loss\22:128,
// CHECK-NOT: {\22arena_bytes\22
// CHECK-LABEL: llvm.func internal @eval0_update
// CHECK: llvm.call @dtcrt_all_reduce
// CHECK-LABEL: llvm.func @stage0_plan
// CHECK-LABEL: llvm.func @eval0_plan
// CHECK-SAME: (%[[CTX:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.intr.memset
// CHECK: %[[PLACE:.*]] = llvm.mlir.constant(64 : i64)
// CHECK-NEXT: %[[E:.*]] = llvm.getelementptr %[[ARENA]][%[[PLACE]]]
// CHECK: llvm.call @dtcrt_run_begin
// CHECK-NEXT: llvm.call @eval0_update(%[[CTX]], {{.*}}, %[[E]])
module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func @plan(%w: tensor<f64, #r> {dtc.offset = 0 : i64, dtc.parameter = "w"}) -> (tensor<f64, #r> {dtc.output = "loss"}) attributes {dtc.arena_bytes = 192 : i64} {
      %0 = dtc.zero {dtc.offsets = array<i64: 128>} : tensor<f64, #r>
      return %0 : tensor<f64, #r>
    }
  }
  module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
    func.func private @update(%x: tensor<f64, #p> {dtc.update = 0 : i64}) -> tensor<f64, #r> attributes {dtc.frame_bytes = 0 : i64} {
      %0 = dtc.all_reduce sum %x over ["pp"] {dtc.offsets = array<i64: -1>} : (tensor<f64, #p>) -> tensor<f64, #r>
      return %0 : tensor<f64, #r>
    }
    func.func @plan(%w: tensor<f64, #r> {dtc.offset = 0 : i64, dtc.parameter = "w"}) -> (tensor<f64, #r> {dtc.output = "eval"}) attributes {dtc.arena_bytes = 192 : i64} {
      %0 = dtc.zero {dtc.offsets = array<i64: 64>} : tensor<f64, #p>
      %1 = dtc.run @update(%0) {dtc.frame_offset = 128 : i64, dtc.offsets = array<i64: 64>} : (tensor<f64, #p>) -> tensor<f64, #r>
      return %1 : tensor<f64, #r>
    }
  }
}

// -----

module {
  module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
    // expected-error @below {{evaluates a stage that has no training step}}
    func.func @plan() attributes {dtc.arena_bytes = 0 : i64} {
      return
    }
  }
}
