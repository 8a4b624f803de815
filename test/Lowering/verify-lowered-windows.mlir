// RUN: dtc-opt %s --dtc-verify=invariant=lowered-communication --split-input-file --verify-diagnostics

// Windows. Ops may read the operand of the gather, bytes 64 to 128, but must
// not touch its result, up to 256. x has 64 bytes, weight 16, y 32, and they
// are next to it.
module attributes {dtc.manifest = "{\"mesh\":[{\"name\":\"dp\",\"size\":2}],\"groups\":[[\"dp\"]]}"} {
  llvm.func @dtcrt_wait(!llvm.ptr, i32)
  llvm.func @dtcrt_all_gather_start(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64)
  llvm.func @dtcrt_conv2d(!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
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
    %b272 = llvm.mlir.constant(272 : i64) : i64
    %at272 = llvm.getelementptr %arena[%b272] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b320 = llvm.mlir.constant(320 : i64) : i64
    %at320 = llvm.getelementptr %arena[%b320] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b1024 = llvm.mlir.constant(1024 : i64) : i64
    %at1024 = llvm.getelementptr %arena[%b1024] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.call @dtcrt_conv2d(%ctx, %i0, %i0, %i1, %1, %2, %2, %4, %2, %2, %1, %1, %1, %1, %0, %0, %1, %1, %2, %2, %at64, %at256, %at272, %at1024) : (!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_conv2d(%ctx, %i0, %i1, %i1, %1, %2, %2, %4, %2, %2, %1, %1, %1, %1, %0, %0, %1, %1, %2, %2, %arena, %at256, %at64, %at1024) : (!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_conv2d(%ctx, %i0, %i2, %i1, %1, %2, %2, %4, %2, %2, %1, %1, %1, %1, %0, %0, %1, %1, %2, %2, %at64, %at256, %at64, %at1024) : (!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_pool2d(%ctx, %i0, %i0, %1, %2, %2, %4, %1, %2, %2, %1, %2, %1, %0, %0, %1, %1, %at64, %at256, %null) : (!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_pool2d(%ctx, %i0, %i1, %1, %2, %2, %4, %1, %2, %2, %1, %2, %1, %0, %0, %1, %1, %at64, %at64, %arena) : (!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_pool2d(%ctx, %i0, %i2, %1, %2, %2, %4, %1, %2, %2, %1, %2, %1, %0, %0, %1, %1, %at64, %at256, %null) : (!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_pool2d(%ctx, %i0, %i3, %1, %2, %2, %4, %1, %2, %2, %1, %2, %1, %0, %0, %1, %1, %null, %at64, %arena) : (!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// The last element of weight.
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
    %b52 = llvm.mlir.constant(52 : i64) : i64
    %at52 = llvm.getelementptr %arena[%b52] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b64 = llvm.mlir.constant(64 : i64) : i64
    %at64 = llvm.getelementptr %arena[%b64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %at128 = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b256 = llvm.mlir.constant(256 : i64) : i64
    %at256 = llvm.getelementptr %arena[%b256] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b320 = llvm.mlir.constant(320 : i64) : i64
    %at320 = llvm.getelementptr %arena[%b320] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b1024 = llvm.mlir.constant(1024 : i64) : i64
    %at1024 = llvm.getelementptr %arena[%b1024] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-note @below {{which starts here}}
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{call of @dtcrt_conv2d writes a buffer that all_gather of 64 bytes over [dp] reads until it is waited for}}
    llvm.call @dtcrt_conv2d(%ctx, %i0, %i2, %i0, %1, %2, %2, %4, %2, %2, %1, %1, %1, %1, %0, %0, %1, %1, %2, %2, %at256, %at52, %at320, %at1024) : (!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// The last elements of y.
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
    %b104 = llvm.mlir.constant(104 : i64) : i64
    %at104 = llvm.getelementptr %arena[%b104] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %at128 = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b256 = llvm.mlir.constant(256 : i64) : i64
    %at256 = llvm.getelementptr %arena[%b256] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b320 = llvm.mlir.constant(320 : i64) : i64
    %at320 = llvm.getelementptr %arena[%b320] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b1024 = llvm.mlir.constant(1024 : i64) : i64
    %at1024 = llvm.getelementptr %arena[%b1024] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-note @below {{which starts here}}
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{call of @dtcrt_conv2d reads a buffer that all_gather of 64 bytes over [dp] writes until it is waited for}}
    llvm.call @dtcrt_conv2d(%ctx, %i0, %i1, %i0, %1, %2, %2, %4, %2, %2, %1, %1, %1, %1, %0, %0, %1, %1, %2, %2, %at256, %at320, %at104, %at1024) : (!llvm.ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// The first element of dx.
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
    %b124 = llvm.mlir.constant(124 : i64) : i64
    %at124 = llvm.getelementptr %arena[%b124] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %at128 = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b256 = llvm.mlir.constant(256 : i64) : i64
    %at256 = llvm.getelementptr %arena[%b256] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b320 = llvm.mlir.constant(320 : i64) : i64
    %at320 = llvm.getelementptr %arena[%b320] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-note @below {{which starts here}}
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{call of @dtcrt_pool2d writes a buffer that all_gather of 64 bytes over [dp] reads until it is waited for}}
    llvm.call @dtcrt_pool2d(%ctx, %i0, %i3, %1, %2, %2, %4, %1, %2, %2, %1, %2, %1, %0, %0, %1, %1, %null, %at256, %at124) : (!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}

// -----

// The last elements of x.
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
    %b72 = llvm.mlir.constant(72 : i64) : i64
    %at72 = llvm.getelementptr %arena[%b72] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b128 = llvm.mlir.constant(128 : i64) : i64
    %at128 = llvm.getelementptr %arena[%b128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %b256 = llvm.mlir.constant(256 : i64) : i64
    %at256 = llvm.getelementptr %arena[%b256] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // expected-note @below {{which starts here}}
    llvm.call @dtcrt_all_gather_start(%ctx, %i0, %slot, %at64, %at128, %b64) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
    // expected-error @below {{call of @dtcrt_pool2d reads a buffer that all_gather of 64 bytes over [dp] writes until it is waited for}}
    llvm.call @dtcrt_pool2d(%ctx, %i0, %i2, %1, %2, %2, %4, %1, %2, %2, %1, %2, %1, %0, %0, %1, %1, %at72, %at256, %null) : (!llvm.ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @dtcrt_wait(%ctx, %slot) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}
