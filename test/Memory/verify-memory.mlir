// RUN: dtc-opt %s --dtc-verify=invariant=memory --split-input-file --verify-diagnostics

// Nothing is wrong here.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.frame_bytes = 128 : i64} {
    %0 = dtc.relu %x {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = dtc.exp %0 {dtc.offsets = array<i64: 64>} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = dtc.neg %1 {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = dtc.add %1, %2 {dtc.offsets = array<i64: -1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
  func.func @plan(%x: tensor<4xf32> {dtc.offset = 0 : i64}) -> tensor<4xf32> attributes {dtc.arena_bytes = 256 : i64} {
    %0 = dtc.run @forward(%x) {dtc.offsets = array<i64: 64>, dtc.frame_offset = 128 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-error @below {{has no 'dtc.arena_bytes'; plan memory first}}
  func.func @plan() {
    return
  }
}
}

// -----

// %0 is needed after %1 has taken its bytes.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.frame_bytes = 64 : i64} {
    // expected-note @below {{the value}}
    %0 = dtc.relu %x {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{overwritten here}}
    %1 = dtc.exp %x {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{reads a value in bytes 0 to 16 that has been overwritten; their lifetimes overlap}}
    %2 = dtc.add %0, %1 {dtc.offsets = array<i64: -1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func @plan() attributes {dtc.arena_bytes = 0 : i64} {
    return
  }
}
}

// -----

// A result must not lie on an operand, even on the last use of it.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<32xf32>) attributes {dtc.frame_bytes = 256 : i64} {
    %0 = dtc.relu %x {dtc.offsets = array<i64: 0>} : (tensor<32xf32>) -> tensor<32xf32>
    // expected-error @below {{result 0 in bytes 64 to 192 overlaps an operand in bytes 0 to 128}}
    %1 = dtc.exp %0 {dtc.offsets = array<i64: 64>} : (tensor<32xf32>) -> tensor<32xf32>
    return
  }
  func.func @plan() attributes {dtc.arena_bytes = 0 : i64} {
    return
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) attributes {dtc.frame_bytes = 64 : i64} {
    // expected-error @below {{lies in bytes 64 to 80, outside the 64 bytes of 'forward'}}
    %0 = dtc.relu %x {dtc.offsets = array<i64: 64>} : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
  func.func @plan() attributes {dtc.arena_bytes = 0 : i64} {
    return
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) attributes {dtc.frame_bytes = 64 : i64} {
    // expected-error @below {{begins at byte 8, expected a multiple of 64}}
    %0 = dtc.relu %x {dtc.offsets = array<i64: 8>} : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
  func.func @plan() attributes {dtc.arena_bytes = 0 : i64} {
    return
  }
}
}

// -----

// A view lies where the value does.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) attributes {dtc.frame_bytes = 128 : i64} {
    %0 = dtc.relu %x {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{result 0 lies at byte 64, expected the memory of the operand that it aliases}}
    %1 = dtc.reshape %0 {dtc.offsets = array<i64: 64>} : (tensor<4xf32>) -> tensor<2x2xf32>
    return
  }
  func.func @plan() attributes {dtc.arena_bytes = 0 : i64} {
    return
  }
}
}

// -----

// The frame of the second run lies on the result of the first.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.frame_bytes = 64 : i64} {
    %0 = dtc.relu %x {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = dtc.exp %0 {dtc.offsets = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func @plan(%x: tensor<4xf32> {dtc.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) attributes {dtc.arena_bytes = 256 : i64} {
    // expected-note @below {{the value}}
    %0 = dtc.run @forward(%x) {dtc.offsets = array<i64: 64>, dtc.frame_offset = 128 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{overwritten here}}
    %1 = dtc.run @forward(%x) {dtc.offsets = array<i64: 192>, dtc.frame_offset = 64 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{reads a value in bytes 64 to 80 that has been overwritten}}
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
}

// -----

// A run's result on its own frame.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.frame_bytes = 64 : i64} {
    %0 = dtc.relu %x {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = dtc.exp %0 {dtc.offsets = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func @plan(%x: tensor<4xf32> {dtc.offset = 0 : i64}) -> tensor<4xf32> attributes {dtc.arena_bytes = 128 : i64} {
    // expected-error @below {{result 0 in bytes 64 to 80 overlaps the frame of the run, bytes 64 to 128}}
    %0 = dtc.run @forward(%x) {dtc.offsets = array<i64: 64>, dtc.frame_offset = 64 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
}

// -----

// A parameter must be there at the next step.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-note @below {{the value}}
  func.func @plan(%w: tensor<4xf32> {dtc.parameter = "w", dtc.offset = 0 : i64}) attributes {dtc.arena_bytes = 64 : i64} {
    // expected-note @below {{overwritten here}}
    %0 = dtc.zero {dtc.offsets = array<i64: 0>} : tensor<4xf32>
    // expected-error @below {{reads a value in bytes 0 to 16 that has been overwritten}}
    return
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-note @below {{the other argument}}
  // expected-error @below {{argument 1 lies in bytes 0 to 16, which another argument holds}}
  func.func @plan(%a: tensor<4xf32> {dtc.offset = 0 : i64}, %b: tensor<4xf32> {dtc.offset = 0 : i64}) attributes {dtc.arena_bytes = 64 : i64} {
    return
  }
}
}

// -----

// A sent buffer lives until its wait.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan() attributes {dtc.arena_bytes = 64 : i64} {
    %0 = dtc.zero {dtc.offsets = array<i64: 0>} : tensor<4xf32>
    // expected-note @below {{the value}}
    %s0 = dtc.send %0 to 1 tag 0 {dtc.offsets = array<i64: 0>} : tensor<4xf32>
    // expected-note @below {{overwritten here}}
    %1 = dtc.zero {dtc.offsets = array<i64: 0>} : tensor<4xf32>
    // expected-error @below {{reads a value in bytes 0 to 16 that has been overwritten}}
    dtc.wait %s0 : tensor<4xf32>
    return
  }
}
}

// -----

// The operands of one collective are not side by side.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%a: tensor<4xf32, #p> {dtc.update = 0 : i64}, %b: tensor<4xf32, #p> {dtc.update = 1 : i64}) -> (tensor<4xf32, #r>, tensor<4xf32, #r>)
      attributes {dtc.frame_bytes = 0 : i64} {
    %0:2 = dtc.all_reduce sum %a, %b over ["dp"] {dtc.offsets = array<i64: -1, -1>} : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> (tensor<4xf32, #r>, tensor<4xf32, #r>)
    return %0#0, %0#1 : tensor<4xf32, #r>, tensor<4xf32, #r>
  }
  func.func @plan() attributes {dtc.arena_bytes = 192 : i64} {
    %0 = dtc.zero {dtc.offsets = array<i64: 0>} : tensor<4xf32, #p>
    // expected-error @below {{an operand of a collective lies at byte 128, expected byte 64, next to the operand before it}}
    %1 = dtc.zero {dtc.offsets = array<i64: 128>} : tensor<4xf32, #p>
    %2:2 = dtc.run @update(%0, %1) {dtc.offsets = array<i64: 0, 128>, dtc.frame_offset = 0 : i64} : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> (tensor<4xf32, #r>, tensor<4xf32, #r>)
    return
  }
}
}

// -----

// An evaluation leaves what the step keeps where it is, its own arguments and
// those that it does not have.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 64 : i64, dtc.parameter = "w"}, %m: tensor<4xf32> {dtc.offset = 0 : i64, dtc.state = "w.m"})
      attributes {dtc.arena_bytes = 192 : i64} {
    return
  }
}
module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.frame_bytes = 64 : i64} {
    %0 = dtc.relu %x {dtc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = dtc.exp %0 {dtc.offsets = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  // expected-note @below {{the value}}
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 64 : i64, dtc.parameter = "w"}) -> tensor<4xf32> attributes {dtc.arena_bytes = 192 : i64} {
    // expected-error @below {{reads a value in bytes 64 to 80 that has been overwritten; their lifetimes overlap}}
    // expected-note @below {{overwritten here}}
    %0 = dtc.run @forward(%w) {dtc.offsets = array<i64: 128>, dtc.frame_offset = 64 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-note @below {{the value}}
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 64 : i64, dtc.parameter = "w"}, %m: tensor<4xf32> {dtc.offset = 0 : i64, dtc.state = "w.m"})
      attributes {dtc.arena_bytes = 192 : i64} {
    return
  }
}
module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.frame_bytes = 0 : i64} {
    %0 = dtc.exp %x {dtc.offsets = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 64 : i64, dtc.parameter = "w"}) -> tensor<4xf32> attributes {dtc.arena_bytes = 192 : i64} {
    // expected-note @below {{overwritten here}}
    %0 = dtc.run @forward(%w) {dtc.offsets = array<i64: 0>, dtc.frame_offset = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{reads a value in bytes 0 to 16 that has been overwritten; their lifetimes overlap}}
    return %0 : tensor<4xf32>
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-note @below {{which lies at byte 64}}
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 64 : i64, dtc.parameter = "w"}) attributes {dtc.arena_bytes = 128 : i64} {
    return
  }
}
module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
  // expected-error @below {{argument 0 of another program lies at byte 0, expected the place of the training step's argument}}
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 0 : i64, dtc.parameter = "w"}) attributes {dtc.arena_bytes = 128 : i64} {
    return
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 0 : i64, dtc.parameter = "w"}) attributes {dtc.arena_bytes = 64 : i64} {
    return
  }
}
module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
  // expected-error @below {{argument 0 is overwritten by an evaluation}}
  func.func @plan(%w: tensor<4xf32> {dtc.offset = 0 : i64, dtc.parameter = "w", dtc.update = 0 : i64}) -> tensor<4xf32> attributes {dtc.arena_bytes = 64 : i64} {
    %0 = dtc.accumulate %w into %w {dtc.offsets = array<i64: 0>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
}

// -----

// expected-error @below {{has 1 stages of program 'eval', expected 2, as the training step has}}
module {
module @stage0 attributes {dtc.stage = 0 : i64} {}
module @stage1 attributes {dtc.stage = 1 : i64} {}
module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {}
}

// -----

// A run that waits inside keeps what is in flight until then: the part that is
// still gathered.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @prologue(%p: tensor<16xf32, #d>) -> tensor<16xf32, #r> attributes {dtc.frame_bytes = 0 : i64} {
    %0 = dtc.all_gather %p over ["dp"] dim 0 {dtc.offsets = array<i64: -1>, dtc.async} : (tensor<16xf32, #d>) -> tensor<16xf32, #r>
    return %0 : tensor<16xf32, #r>
  }
  func.func private @forward.first(%a: tensor<16xf32, #r>) -> tensor<16xf32, #r> attributes {dtc.frame_bytes = 0 : i64} {
    dtc.wait %a : tensor<16xf32, #r>
    %0 = dtc.relu %a {dtc.offsets = array<i64: -1>} : (tensor<16xf32, #r>) -> tensor<16xf32, #r>
    return %0 : tensor<16xf32, #r>
  }
  // expected-note @below {{the value}}
  func.func @plan(%p: tensor<16xf32, #d> {dtc.offset = 0 : i64, dtc.parameter = "p"}) -> tensor<16xf32, #r> attributes {dtc.arena_bytes = 128 : i64} {
    %0 = dtc.run @prologue(%p) {dtc.offsets = array<i64: 64>, dtc.frame_offset = 0 : i64} : (tensor<16xf32, #d>) -> tensor<16xf32, #r>
    // expected-error @below {{reads a value in bytes 0 to 32 that has been overwritten; their lifetimes overlap}}
    // expected-note @below {{overwritten here}}
    %1 = dtc.run @forward.first(%0) {dtc.offsets = array<i64: 0>, dtc.frame_offset = 0 : i64} : (tensor<16xf32, #r>) -> tensor<16xf32, #r>
    return %1 : tensor<16xf32, #r>
  }
}
}


// -----

// A library call would read the host's memory again and again.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-note @below {{the value there}}
  func.func private @forward(%w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dtc.frame_bytes = 0 : i64} {
    // expected-error @below {{touches host memory, which only kernels, gathers and copies access}}
    %0 = dtc.matmul %w, %w {dtc.offsets = array<i64: -1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
  func.func @plan(%w: tensor<4x4xf32> {dtc.offset = 4611686018427387904 : i64, dtc.parameter = "w"}) -> tensor<4x4xf32> attributes {dtc.arena_bytes = 64 : i64, dtc.host_bytes = 64 : i64} {
    %0 = dtc.run @forward(%w) {dtc.offsets = array<i64: 0>, dtc.frame_offset = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(
      // expected-error @below {{lies in bytes 64 to 128, outside the 64 bytes of the host's memory of 'plan'}}
      %w: tensor<4x4xf32> {dtc.offset = 4611686018427387968 : i64, dtc.parameter = "w"}) attributes {dtc.arena_bytes = 64 : i64, dtc.host_bytes = 64 : i64} {
    return
  }
}
}
