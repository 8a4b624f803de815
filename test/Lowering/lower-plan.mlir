// RUN: dtc-opt %s --dtc-lower-plan | FileCheck %s

#mesh = #dtc.mesh<pp=2, mb=2>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial(sum)>
#pp = #dtc.layout<#mesh, pp: split(0)>
#b = #dtc.layout<#mesh, mb: split(0)>

// The manifest has what the runtime must know of the plan.
// CHECK: module attributes {dtc.manifest = "{{.*}}\22inputs\22:[{\22dtype\22:\22f32\22,\22kind\22:\22input\22,\22name\22:\22x\22,\22shape\22:[8,4]}]{{.*}}\22microbatches\22:2,\22model_flops\22:77,\22ops\22:[{\22bytes\22:64,\22flops\22:128,\22name\22:\22matmul(4x4,4x4) f32\22},{\22bytes\22:0,\22flops\22:0,\22name\22:\22kernel_relu\22}]{{.*}}\22phases\22:[\22F\22]{{.*}}\22stages\22:[{\22arena_bytes\22:1088
module attributes {dtc.model_flops = 77 : i64} {
  module @kernels {
    llvm.func @kernel_relu(%x: !llvm.ptr, %y: !llvm.ptr, %scratch: !llvm.ptr) attributes {dtc.scratch = 64 : i64} {
      llvm.return
    }
  }
  module @stage0 attributes {dtc.stage = 0 : i64} {
    // A value that is returned is computed in the caller's buffer; others live
    // in the frame.
    // CHECK-LABEL: llvm.func internal @stage0_forward
    // CHECK-SAME: (%[[CTX:.*]]: !llvm.ptr, %[[FRAME:.*]]: !llvm.ptr, %[[SCRATCH:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr, %[[W:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr)
    // The runtime is told of the op, and of what it has written.
    // CHECK: llvm.call @dtcrt_op_begin(%[[CTX]], %{{.*}})
    // CHECK: llvm.call @dtcrt_matmul(%[[CTX]], {{.*}}, %[[X]], %[[W]], %[[FRAME]])
    // CHECK: %[[COUNT:.*]] = llvm.mlir.constant(16 : i64)
    // CHECK-NEXT: llvm.call @dtcrt_op_result(%[[CTX]], %{{.*}}, %[[FRAME]], %[[COUNT]])
    // CHECK-NEXT: llvm.call @dtcrt_op_end(%[[CTX]])
    // CHECK: %[[OP:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK-NEXT: llvm.call @dtcrt_op_begin(%[[CTX]], %[[OP]])
    // CHECK-NEXT: llvm.call @kernel_relu(%[[FRAME]], %[[Y]], %[[SCRATCH]])
    // CHECK: llvm.call @dtcrt_op_result(%[[CTX]], %{{.*}}, %[[Y]], %{{.*}})
    // CHECK-NEXT: llvm.call @dtcrt_op_end(%[[CTX]])
    func.func private @forward(%x: tensor<4x4xf32, #r>, %w: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<forward>, dtc.frame_bytes = 64 : i64} {
      %0 = dtc.matmul %x, %w {dtc.offsets = array<i64: 0>, dtc.work = array<i64: 128, 64>} : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %1 = dtc.launch @kernels::@kernel_relu(%0) {dtc.offsets = array<i64: -1>} : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %1 : tensor<4x4xf32, #r>
    }
    // Collectives with a slot start; the others are done at once.
    // CHECK-LABEL: llvm.func internal @stage0_communicate
    // CHECK-SAME: (%[[CTX:.*]]: !llvm.ptr, %[[FRAME:.*]]: !llvm.ptr, %[[SCRATCH:.*]]: !llvm.ptr, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr, %[[C:.*]]: !llvm.ptr, %[[D:.*]]: !llvm.ptr)
    // The second operand of the bucket begins 16 elements after the first.
    // CHECK-DAG: %[[COUNT:.*]] = llvm.mlir.constant(20 : i64)
    // CHECK-DAG: %[[SLOT:.*]] = llvm.mlir.constant(4096 : i32)
    // CHECK: llvm.call @dtcrt_all_reduce_start(%[[CTX]], %{{.*}}, %[[SLOT]], %{{.*}}, %{{.*}}, %[[A]], %[[COUNT]])
    // CHECK-DAG: %[[COUNT:.*]] = llvm.mlir.constant(8 : i64)
    // CHECK-DAG: %[[SLOT:.*]] = llvm.mlir.constant(4097 : i32)
    // CHECK: llvm.call @dtcrt_reduce_scatter_start(%[[CTX]], %{{.*}}, %[[SLOT]], %{{.*}}, %{{.*}}, %[[C]], %[[FRAME]], %[[COUNT]])
    // CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
    // CHECK-DAG: %[[SLOT:.*]] = llvm.mlir.constant(4098 : i32)
    // CHECK: llvm.call @dtcrt_all_gather_start(%[[CTX]], %{{.*}}, %[[SLOT]], %[[D]], %{{.*}}, %[[BYTES]])
    // CHECK-COUNT-3: llvm.call @dtcrt_wait
    // CHECK: llvm.call @dtcrt_all_reduce(%[[CTX]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[A]], %{{[^,]*}})
    // CHECK: llvm.call @dtcrt_reduce_scatter(%[[CTX]], {{.*}}, %[[C]], %[[FRAME]], %[[SCRATCH]],
    func.func private @communicate(%a: tensor<2x8xf32, #s>, %b: tensor<4xf32, #s>, %c: tensor<4x4xf32, #s>, %d: tensor<2x4xf32, #pp>) attributes {dtc.frame_bytes = 512 : i64} {
      %0:2 = dtc.all_reduce sum %a, %b over ["pp"] {dtc.async, dtc.offsets = array<i64: -1, -1>} : (tensor<2x8xf32, #s>, tensor<4xf32, #s>) -> (tensor<2x8xf32, #r>, tensor<4xf32, #r>)
      %1 = dtc.reduce_scatter sum %c over ["pp"] dim 0 {dtc.async, dtc.offsets = array<i64: 0>} : (tensor<4x4xf32, #s>) -> tensor<4x4xf32, #pp>
      %2 = dtc.all_gather %d over ["pp"] dim 0 {dtc.async, dtc.offsets = array<i64: 64>} : (tensor<2x4xf32, #pp>) -> tensor<2x4xf32, #r>
      dtc.wait %0#0 : tensor<2x8xf32, #r>
      dtc.wait %1 : tensor<4x4xf32, #pp>
      dtc.wait %2 : tensor<2x4xf32, #r>
      %3 = dtc.all_reduce sum %a over ["pp"] {dtc.offsets = array<i64: -1>} : (tensor<2x8xf32, #s>) -> tensor<2x8xf32, #r>
      %4 = dtc.reduce_scatter sum %c over ["pp"] dim 0 {dtc.offsets = array<i64: 0>} : (tensor<4x4xf32, #s>) -> tensor<4x4xf32, #pp>
      return
    }
    // CHECK-LABEL: llvm.func @stage0_plan
    // CHECK-SAME: (%[[CTX:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
    // The second micro-batch's rows begin 64 bytes into the input.
    // CHECK: %[[X1:.*]] = llvm.mlir.constant(64 : i64)
    // CHECK: llvm.getelementptr %[[ARENA]][%[[X1]]]
    // The runtime is told of the run, by the phase's place in the manifest.
    // CHECK: %[[PHASE:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: %[[MICROBATCH:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: llvm.call @dtcrt_run_begin(%[[CTX]], %[[PHASE]], %[[MICROBATCH]])
    // CHECK-NEXT: llvm.call @stage0_forward(%[[CTX]],
    // CHECK-NEXT: llvm.call @dtcrt_run_end(%[[CTX]])
    // CHECK: llvm.call @dtcrt_send(%[[CTX]],
    // CHECK: llvm.call @dtcrt_wait(%[[CTX]],
    func.func @plan(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input", dtc.offset = 0 : i64},
                    %w: tensor<4x4xf32, #r> {dtc.parameter = "w", dtc.offset = 128 : i64}) attributes {dtc.arena_bytes = 1024 : i64} {
      %0 = dtc.microbatch %x[1] {dtc.offsets = array<i64: 64>} : tensor<8x4xf32, #b> -> tensor<4x4xf32, #r>
      %1 = dtc.run @forward(%0, %w) microbatch 1 {dtc.frame_offset = 512 : i64, dtc.offsets = array<i64: 256>} : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %s0 = dtc.send %1 to 1 tag 0 : tensor<4x4xf32, #r>
      dtc.wait %s0 : tensor<4x4xf32, #r>
      return
    }
  }
}
