// RUN: dtc-opt %s --dtc-verify=invariant=lowered-communication --split-input-file --verify-diagnostics

// Two stages of two ranks, in the form of LowerPlan: a message from one to the
// other, reductions inside each and over both. While the message is in flight,
// ops read it and write its sources.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_send(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_recv(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @dtcrt_all_reduce(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func internal @kernel_copy(%x: !llvm.ptr, %y: !llvm.ptr) attributes {dtc.argument_bytes = array<i64: 64, 64>} {
    %0 = llvm.load %x : !llvm.ptr -> f32
    llvm.store %0, %y : f32, !llvm.ptr
    llvm.return
  }
  llvm.func internal @stage0_forward(%ctx: !llvm.ptr, %frame: !llvm.ptr, %scratch: !llvm.ptr, %x: !llvm.ptr, %y: !llvm.ptr) {
    llvm.call @kernel_copy(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %b16 = llvm.mlir.constant(16 : i64) : i64
    %y = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @stage0_forward(%ctx, %arena, %arena, %y, %arena) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_send(%ctx, %i1, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @stage0_forward(%ctx, %arena, %arena, %arena, %y) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.call @dtcrt_all_reduce(%ctx, %i0, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_all_reduce(%ctx, %i2, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %b16 = llvm.mlir.constant(16 : i64) : i64
    llvm.call @dtcrt_recv(%ctx, %i0, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.call @dtcrt_all_reduce(%ctx, %i0, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_all_reduce(%ctx, %i2, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
}

// -----

// Another group on each stage: over [pp], and over [pp, dp].
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_all_reduce(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-error @below {{call of @dtcrt_all_reduce never happens: ranks wait for each other in a cycle, rank 0 here}}
    llvm.call @dtcrt_all_reduce(%ctx, %i1, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-note @below {{rank 2 waits here}}
    llvm.call @dtcrt_all_reduce(%ctx, %i2, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
}

// -----

// Another reduction.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_all_reduce(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-note @below {{the collective of rank 0}}
    llvm.call @dtcrt_all_reduce(%ctx, %i1, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-error @below {{call of @dtcrt_all_reduce on rank 2 meets another collective on rank 0: all_reduce max of 16 x f32 over [pp] meets all_reduce sum of 16 x f32 over [pp]}}
    llvm.call @dtcrt_all_reduce(%ctx, %i1, %i0, %i1, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
}

// -----

// Another value of the step.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_all_reduce(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-note @below {{the collective of rank 0}}
    llvm.call @dtcrt_all_reduce(%ctx, %i1, %i0, %i0, %arena, %b16) {dtc.value = 3 : i64} : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-error @below {{value 4 meets value 3}}
    llvm.call @dtcrt_all_reduce(%ctx, %i1, %i0, %i0, %arena, %b16) {dtc.value = 4 : i64} : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
}

// -----

// The same communicators in another order.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_all_reduce(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-error @below {{ranks wait for each other in a cycle, rank 0 here}}
    llvm.call @dtcrt_all_reduce(%ctx, %i1, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_all_reduce(%ctx, %i2, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-note @below {{rank 2 waits here}}
    llvm.call @dtcrt_all_reduce(%ctx, %i2, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_all_reduce(%ctx, %i1, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
}

// -----

// A tag that is never sent.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_send(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_recv(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    // expected-note @below {{the send}}
    llvm.call @dtcrt_send(%ctx, %i1, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    // expected-error @below {{call of @dtcrt_recv on rank 2 receives tag 1, but rank 0 sends tag 0 first}}
    llvm.call @dtcrt_recv(%ctx, %i0, %i1, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// More bytes are expected than are sent.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_send(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_recv(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    // expected-note @below {{the send}}
    llvm.call @dtcrt_send(%ctx, %i1, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-error @below {{on rank 2 receives 16 bytes, but rank 0 sends 64 bytes}}
    llvm.call @dtcrt_recv(%ctx, %i0, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// A message that nobody receives.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_send(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    // expected-error @below {{on rank 0 is never received by rank 2, stage 1}}
    llvm.call @dtcrt_send(%ctx, %i1, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// A kernel of a stage's function writes what is being sent: its second argument is
// the second of the function, which is the arena's first bytes.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_send(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_recv(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func internal @kernel_copy(%x: !llvm.ptr, %y: !llvm.ptr) attributes {dtc.argument_bytes = array<i64: 64, 64>} {
    %0 = llvm.load %x : !llvm.ptr -> f32
    llvm.store %0, %y : f32, !llvm.ptr
    llvm.return
  }
  llvm.func internal @stage0_forward(%ctx: !llvm.ptr, %frame: !llvm.ptr, %scratch: !llvm.ptr, %x: !llvm.ptr, %y: !llvm.ptr) {
    // expected-error @below {{call of @kernel_copy writes a buffer that send to stage 1 tag 0 reads until it is waited for}}
    llvm.call @kernel_copy(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %y = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-note @below {{which starts here}}
    llvm.call @dtcrt_send(%ctx, %i1, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @stage0_forward(%ctx, %arena, %arena, %y, %arena) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    llvm.call @dtcrt_recv(%ctx, %i0, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// An op reads the result of a gather, 128 bytes, before the wait.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @dtcrt_all_gather_start(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func internal @kernel_copy(%x: !llvm.ptr, %y: !llvm.ptr) attributes {dtc.argument_bytes = array<i64: 64, 64>} {
    %0 = llvm.load %x : !llvm.ptr -> f32
    llvm.store %0, %y : f32, !llvm.ptr
    llvm.return
  }
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %slot = llvm.mlir.constant(4096 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %y = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-note @below {{which starts here}}
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %arena, %y, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{call of @kernel_copy reads a buffer that all_gather of 64 bytes over [dp] writes until it is waited for}}
    llvm.call @kernel_copy(%y, %arena) : (!llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// A wait for nothing.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    // expected-error @below {{call of @dtcrt_wait waits for slot 0, in which no transfer is in flight}}
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// A slot that is taken again.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_send(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    // expected-note @below {{the last use}}
    llvm.call @dtcrt_send(%ctx, %i1, %i0, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    // expected-error @below {{call of @dtcrt_send uses slot 0, whose last use was not waited for}}
    llvm.call @dtcrt_send(%ctx, %i1, %i1, %i0, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// A group that the manifest does not have.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"]]}"} {
  llvm.func @dtcrt_all_reduce(!llvm.ptr, i32, i32, i32, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %b16 = llvm.mlir.constant(16 : i64) : i64
    // expected-error @below {{calls @dtcrt_all_reduce over group 2 of 2}}
    llvm.call @dtcrt_all_reduce(%ctx, %i2, %i0, %i0, %arena, %b16) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, i64) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// A kernel whose arguments have no sizes.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @kernel_copy(!llvm.ptr, !llvm.ptr)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %y = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-error @below {{calls kernel @kernel_copy without 'dtc.argument_bytes' of its 2 arguments}}
    llvm.call @kernel_copy(%y, %arena) : (!llvm.ptr, !llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// Calls that the runtime refuses or has no meaning for.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @dtcrt_all_gather_start(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @dtcrt_conv2d(!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %null = llvm.mlir.zero : !llvm.ptr
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %i3 = llvm.mlir.constant(3 : i32) : i32
    %slot = llvm.mlir.constant(4096 : i32) : i32
    %0 = llvm.mlir.constant(0 : i64) : i64
    %1 = llvm.mlir.constant(1 : i64) : i64
    %2 = llvm.mlir.constant(2 : i64) : i64
    %4 = llvm.mlir.constant(4 : i64) : i64
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %at64 = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %at128 = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b256 = llvm.mlir.constant(256 : i64) : i64
    %at256 = llvm.getelementptr %arena[%b256] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b1024 = llvm.mlir.constant(1024 : i64) : i64
    %at1024 = llvm.getelementptr %arena[%b1024] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{calls @dtcrt_conv2d with role 3, which the runtime does not have}}
    llvm.call @dtcrt_conv2d(%ctx, %i0, %i3, %i0, %1, %2, %2, %4, %2, %2, %1, %1, %1, %1, %0, %0, %1, %1, %2, %2, %arena, %at256, %at256, %at1024) : (!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @dtcrt_all_gather_start(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @dtcrt_conv2d(!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %null = llvm.mlir.zero : !llvm.ptr
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %i3 = llvm.mlir.constant(3 : i32) : i32
    %slot = llvm.mlir.constant(4096 : i32) : i32
    %0 = llvm.mlir.constant(0 : i64) : i64
    %1 = llvm.mlir.constant(1 : i64) : i64
    %2 = llvm.mlir.constant(2 : i64) : i64
    %4 = llvm.mlir.constant(4 : i64) : i64
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %at64 = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %at128 = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b256 = llvm.mlir.constant(256 : i64) : i64
    %at256 = llvm.getelementptr %arena[%b256] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b1024 = llvm.mlir.constant(1024 : i64) : i64
    %at1024 = llvm.getelementptr %arena[%b1024] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{calls @dtcrt_conv2d with 4 groups of 4 channels and 2 filters, expected a divisor of both}}
    llvm.call @dtcrt_conv2d(%ctx, %i0, %i0, %i0, %1, %2, %2, %4, %2, %2, %1, %1, %1, %1, %0, %0, %1, %1, %2, %4, %arena, %at256, %at256, %at1024) : (!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @dtcrt_all_gather_start(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @dtcrt_pool2d(!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %null = llvm.mlir.zero : !llvm.ptr
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %i3 = llvm.mlir.constant(3 : i32) : i32
    %slot = llvm.mlir.constant(4096 : i32) : i32
    %0 = llvm.mlir.constant(0 : i64) : i64
    %1 = llvm.mlir.constant(1 : i64) : i64
    %2 = llvm.mlir.constant(2 : i64) : i64
    %4 = llvm.mlir.constant(4 : i64) : i64
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %at64 = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %at128 = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b256 = llvm.mlir.constant(256 : i64) : i64
    %at256 = llvm.getelementptr %arena[%b256] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{calls @dtcrt_pool2d with role 4096, which the runtime does not have}}
    llvm.call @dtcrt_pool2d(%ctx, %i0, %slot, %1, %2, %2, %4, %1, %2, %2, %1, %2, %1, %0, %0, %1, %1, %arena, %at256, %null) : (!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// A call that the proof does not know.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_broadcast(!llvm.ptr, i32)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    // expected-error @below {{calls @dtcrt_broadcast, which is not known}}
    llvm.call @dtcrt_broadcast(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// A number that is known only when the program runs.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    // expected-error @below {{is not what a plan is made of}}
    %n = llvm.load %arena : !llvm.ptr -> i32
    llvm.call @dtcrt_wait(%ctx, %n) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// An evaluation is a program of its own.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
  llvm.func @stage1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
  llvm.func @eval0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    // expected-error @below {{call of @dtcrt_wait waits for slot 0, in which no transfer is in flight}}
    llvm.call @dtcrt_wait(%ctx, %i0) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
  llvm.func @eval1_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// expected-error @below {{has 1 plans @stageN_plan, expected 2, one for each stage}}
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"], [\"pp\"], [\"pp\", \"dp\"]]}"} {
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// expected-error @below {{has no 'dtc.manifest'; lower plans first}}
module {
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// expected-error @below {{'dtc.manifest' has a group over an axis that is not in the mesh}}
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"pp\",\"size\":2},{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"tp\"]]}"} {
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    llvm.return
  }
}

// -----

// An exchange, and a ring: each member gets what the next one has.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]],\"permutations\":[[1,0]]}"} {
  llvm.func @dtcrt_all_to_all(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64)
  llvm.func @dtcrt_collective_permute_start(!llvm.ptr, i32, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %slot = llvm.mlir.constant(4096 : i32) : i32
    %b2 = llvm.mlir.constant(2 : i64) : i64
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %y = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @dtcrt_all_to_all(%ctx, %i0, %arena, %y, %ctx, %b2, %b2, %b64) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
    llvm.call @dtcrt_collective_permute_start(%ctx, %i0, %slot, %i0, %y, %arena, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// An exchange reads a share for each member, 2 x 64 bytes. A started transfer
// writes the second half of it.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]],\"permutations\":[[1,0]]}"} {
  llvm.func @dtcrt_all_to_all_start(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @dtcrt_collective_permute_start(!llvm.ptr, i32, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %slot = llvm.mlir.constant(4096 : i32) : i32
    %other = llvm.mlir.constant(4097 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %b512 = llvm.mlir.constant(512 : i64) : i64
    %half = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %y = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %z = llvm.getelementptr %arena[%b512] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-note @below {{which starts here}}
    llvm.call @dtcrt_collective_permute_start(%ctx, %i0, %slot, %i0, %z, %half, %b64) : (!llvm.ptr, i32, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{call of @dtcrt_all_to_all_start reads a buffer that collective_permute of 64 bytes over [dp] writes until it is waited for}}
    llvm.call @dtcrt_all_to_all_start(%ctx, %i0, %other, %arena, %y, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.return
  }
}

// -----

// A permutation of other ranks than those of the group.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]],\"permutations\":[[1,2,0]]}"} {
  llvm.func @dtcrt_collective_permute(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %y = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-error @below {{call of @dtcrt_collective_permute permutes 3 members, expected 2}}
    llvm.call @dtcrt_collective_permute(%ctx, %i0, %i0, %arena, %y, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.return
  }
}

// -----

// None at all.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]],\"permutations\":[[1,1]]}"} {
  llvm.func @dtcrt_collective_permute(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %y = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-error @below {{has no permutation: not each member's input goes to one member}}
    llvm.call @dtcrt_collective_permute(%ctx, %i0, %i0, %arena, %y, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.return
  }
}
