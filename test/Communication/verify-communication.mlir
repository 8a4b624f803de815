// RUN: dtc-opt %s --dtc-verify=invariant=communication --split-input-file --verify-diagnostics

// Two stages of two ranks, each of which works: an exchange, a reduction inside
// each stage, one over stages.
#mesh = #dtc.mesh<pp=2, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%g: tensor<4xf32, #p> {dtc.update = 0 : i64}, %n: tensor<f64, #s> {dtc.update = 1 : i64}) -> (tensor<4xf32, #r>, tensor<f64, #r>) {
    %0 = dtc.all_reduce sum %g over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    %1 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return %0, %1 : tensor<4xf32, #r>, tensor<f64, #r>
  }
  func.func @plan(%x: tensor<4xf32, #r>) {
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    %g = dtc.recv from 1 tag 1 : tensor<4xf32, #p>
    dtc.wait %g : tensor<4xf32, #p>
    dtc.wait %s0 : tensor<4xf32, #r>
    %n = dtc.zero : tensor<f64, #s>
    %0:2 = dtc.run @update(%g, %n) : (tensor<4xf32, #p>, tensor<f64, #s>) -> (tensor<4xf32, #r>, tensor<f64, #r>)
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    %x = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.wait %x : tensor<4xf32, #r>
    %g = dtc.zero : tensor<4xf32, #p>
    %s0 = dtc.send %g to 0 tag 1 : tensor<4xf32, #p>
    %n = dtc.zero : tensor<f64, #s>
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    dtc.wait %s0 : tensor<4xf32, #p>
    return
  }
}
}

// -----

// Each stage receives before it sends.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{never happens: ranks wait for each other in a cycle, rank 0 here}}
    %y = dtc.recv from 1 tag 1 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{rank 1 waits here}}
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    %s0 = dtc.send %x to 0 tag 1 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// A tag that is never sent.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{the send}}
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    // expected-error @below {{on rank 1 receives tag 7, but rank 0 sends tag 0 first}}
    %y = dtc.recv from 0 tag 7 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    return
  }
}
}

// -----

#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{on rank 0 is never received by rank 1, stage 1}}
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    return
  }
}
}

// -----

#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{the send}}
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{on rank 1 receives tensor<8xf32, #dtc.layout<#dtc.mesh<pp=2, mb=1>>>, but rank 0 sends tensor<4xf32, #dtc.layout<#dtc.mesh<pp=2, mb=1>>>}}
    %y = dtc.recv from 0 tag 0 : tensor<8xf32, #r>
    dtc.wait %y : tensor<8xf32, #r>
    return
  }
}
}

// -----

// Stages agree on the ranks, but not on the reduction.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
#m = #dtc.layout<#mesh, pp: partial(max)>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-note @below {{the collective of rank 0}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #m>
    // expected-error @below {{on rank 1 meets another collective on rank 0: all_reduce max of tensor<f64, #dtc.layout<#dtc.mesh<pp=2, mb=1>, pp: partial(max)>> over [pp] meets all_reduce sum of tensor<f64, #dtc.layout<#dtc.mesh<pp=2, mb=1>, pp: partial(sum)>> over [pp]}}
    %0 = dtc.all_reduce max %n over ["pp"] : (tensor<f64, #m>) -> tensor<f64, #r>
    return
  }
}
}

// -----

// A stage that does not take part.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-error @below {{never happens: rank 0 waits here for rank 1, which has finished}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    return
  }
}
}

// -----

// A message and a collective in opposite order.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-error @below {{never happens: ranks wait for each other in a cycle, rank 0 here}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    // expected-note @below {{rank 1 waits here}}
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    %n = dtc.zero : tensor<f64, #s>
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
}

// -----

#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{the other message}}
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    // expected-error @below {{send to stage 1 tag 0 begins while another message with it is in flight}}
    %s1 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    return
  }
}
}

// -----

#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{is never waited for}}
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    return
  }
}
}

// -----

#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{waits for a transfer that is not in flight}}
    dtc.wait %x : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    return
  }
}
}

// -----

#mesh = #dtc.mesh<pp=4, mb=1>
#r = #dtc.layout<#mesh>
// expected-error @below {{has 1 stages, expected 4, the size of mesh axis pp}}
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    return
  }
}
}

// -----

// One of two collectives is missing on one member.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    %m = dtc.zero : tensor<f64, #s>
    // expected-error @below {{never happens: rank 0 waits here for rank 1, which has finished}}
    %1 = dtc.all_reduce sum %m over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-note @below {{the last communication of rank 1}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
}

// -----

// Two communicators in opposite order.
#mesh = #dtc.mesh<pp=2, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
#a = #dtc.layout<#mesh, pp: partial, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    %m = dtc.zero : tensor<f64, #a>
    // expected-error @below {{never happens: ranks wait for each other in a cycle, rank 0 here}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    %1 = dtc.all_reduce sum %m over ["pp", "dp"] : (tensor<f64, #a>) -> tensor<f64, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    %m = dtc.zero : tensor<f64, #a>
    // expected-note @below {{rank 2 waits here}}
    %0 = dtc.all_reduce sum %m over ["pp", "dp"] : (tensor<f64, #a>) -> tensor<f64, #r>
    %1 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
}

// -----

// Sizes do not agree.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<4xf32, #s>
    // expected-note @below {{the collective of rank 0}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<4xf32, #s>) -> tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<8xf32, #s>
    // expected-error @below {{on rank 1 meets another collective on rank 0: all_reduce sum of tensor<8xf32}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<8xf32, #s>) -> tensor<8xf32, #r>
    return
  }
}
}

// -----

// Element types do not agree.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<4xf32, #s>
    // expected-note @below {{the collective of rank 0}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<4xf32, #s>) -> tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<4xf64, #s>
    // expected-error @below {{on rank 1 meets another collective on rank 0: all_reduce sum of tensor<4xf64}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<4xf64, #s>) -> tensor<4xf64, #r>
    return
  }
}
}

// -----

// A reduction of another value, which only its number tells.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-note @below {{the collective of rank 0}}
    %0 = dtc.all_reduce sum %n over ["pp"] {dtc.value = 7 : i64} : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-error @below {{on rank 1 meets another collective on rank 0: value 8 meets value 7}}
    %0 = dtc.all_reduce sum %n over ["pp"] {dtc.value = 8 : i64} : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
}

// -----

// One rank waits for the collective where it starts, the other later.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
#s = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-note @below {{the collective of rank 0}}
    %0 = dtc.all_reduce sum %n over ["pp"] {dtc.async} : (tensor<f64, #s>) -> tensor<f64, #r>
    dtc.wait %0 : tensor<f64, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #s>
    // expected-error @below {{on rank 1 meets another collective on rank 0: one is synchronous, the other ends at a wait}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
}

// -----

// A receive that nobody sends to.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{never happens: rank 1 waits here for rank 0, which has finished}}
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    return
  }
}
}

// -----

// A message to oneself.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{names stage 0, expected a stage other than its own}}
    %s0 = dtc.send %x to 0 tag 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    return
  }
}
}

// -----

// Each waits for the other's message first: what both have issued before is
// done one by one, although neither waits for its send.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{never happens: ranks wait for each other in a cycle, rank 0 here}}
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    %y = dtc.recv from 1 tag 1 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{rank 1 waits here}}
    %s0 = dtc.send %x to 0 tag 1 : tensor<4xf32, #r>
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// An op reads a value before its message has arrived.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %s0 = dtc.send %x to 1 tag 0 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{which starts here}}
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    // expected-error @below {{reads a buffer that recv from stage 0 tag 0 writes until it is waited for}}
    %0 = dtc.relu %y : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    dtc.wait %y : tensor<4xf32, #r>
    return
  }
}
}

// -----

// Two chunks of the model on each stage, interleaved: chunks 0 and 2 on
// stage 0, 1 and 3 on stage 1. Stage 0 runs chunk 2 of micro-batch 0 before
// chunk 0, from which it comes by way of chunk 1.
#mesh = #dtc.mesh<pp=2, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{never happens: ranks wait for each other in a cycle, rank 0 here}}
    %0 = dtc.recv from 1 tag 1 : tensor<4xf32, #r>
    dtc.wait %0 : tensor<4xf32, #r>
    %1 = dtc.relu %0 : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %s0 = dtc.send %1 to 1 tag 2 : tensor<4xf32, #r>
    %2 = dtc.relu %x : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %s1 = dtc.send %2 to 1 tag 0 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    dtc.wait %s1 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{rank 1 waits here}}
    %0 = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.wait %0 : tensor<4xf32, #r>
    %1 = dtc.relu %0 : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %s0 = dtc.send %1 to 0 tag 1 : tensor<4xf32, #r>
    %2 = dtc.recv from 0 tag 2 : tensor<4xf32, #r>
    dtc.wait %2 : tensor<4xf32, #r>
    dtc.wait %s0 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// A gather that is started, and waited for, before what it makes is read.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#g = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #g>, %d: tensor<4xf32, #g>) {
    %0 = dtc.all_gather %x over ["dp"] dim 0 {dtc.async} : (tensor<4xf32, #g>) -> tensor<4xf32, #r>
    %1 = dtc.relu %d : (tensor<4xf32, #g>) -> tensor<4xf32, #g>
    dtc.wait %0 : tensor<4xf32, #r>
    %2 = dtc.relu %0 : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    return
  }
}
}

// -----

// An op writes the operand of a gather in flight.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#g = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #g>, %d: tensor<4xf32, #g>) {
    // expected-note @below {{which starts here}}
    %0 = dtc.all_gather %x over ["dp"] dim 0 {dtc.async} : (tensor<4xf32, #g>) -> tensor<4xf32, #r>
    // expected-error @below {{writes a buffer that all_gather of tensor<4xf32, #dtc.layout<#dtc.mesh<pp=1, dp=2, mb=1>, dp: split(0)>> over [dp] reads until it is waited for}}
    %1 = dtc.accumulate %d into %x : tensor<4xf32, #g>
    dtc.wait %0 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// An op reads the result of a gather in flight.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#g = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #g>, %d: tensor<4xf32, #g>) {
    // expected-note @below {{which starts here}}
    %0 = dtc.all_gather %x over ["dp"] dim 0 {dtc.async} : (tensor<4xf32, #g>) -> tensor<4xf32, #r>
    // expected-error @below {{reads a buffer that all_gather}}
    %1 = dtc.relu %0 : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    dtc.wait %0 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// So is what is reduced in place.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#g = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #p>) {
    // expected-note @below {{which starts here}}
    %0 = dtc.all_reduce sum %x over ["dp"] {dtc.async} : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    // expected-error @below {{reads a buffer that all_reduce}}
    %1 = dtc.relu %0 : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    dtc.wait %0 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// A wait for a value that nothing makes.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#g = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #g>, %d: tensor<4xf32, #g>) {
    %0 = dtc.all_gather %x over ["dp"] dim 0 {dtc.async} : (tensor<4xf32, #g>) -> tensor<4xf32, #r>
    // expected-error @below {{waits for a transfer that is not in flight}}
    dtc.wait %d : tensor<4xf32, #g>
    return
  }
}
}

// -----

// An op reads a value after its reduction in place, as if it had not changed.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#g = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #p>) {
    %0 = dtc.all_reduce sum %x over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    // expected-error @below {{reads a value that is not there}}
    %1 = dtc.add %x, %x : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> tensor<4xf32, #p>
    return
  }
}
}

// -----

// Stages that exchange in other blocks.
#mesh = #dtc.mesh<pp=2, mb=1>
#a = #dtc.layout<#mesh, pp: split(0)>
#b = #dtc.layout<#mesh, pp: split(1)>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4x4xf32, #a>) {
    // expected-note @below {{the collective of rank 0}}
    %y = dtc.all_to_all %x over ["pp"] from 0 to 1 : (tensor<4x4xf32, #a>) -> tensor<4x4xf32, #b>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4x4xf32, #b>) {
    // expected-error @below {{on rank 1 meets another collective on rank 0}}
    %y = dtc.all_to_all %x over ["pp"] from 1 to 0 : (tensor<4x4xf32, #b>) -> tensor<4x4xf32, #a>
    return
  }
}
}

// -----

// Stages that shift in the other direction each.
#mesh = #dtc.mesh<pp=3, mb=1>
#a = #dtc.layout<#mesh, pp: split(0)>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<6xf32, #a>) {
    // expected-note @below {{the collective of rank 0}}
    %y = dtc.collective_permute %x over ["pp"] sources [1, 2, 0] : (tensor<6xf32, #a>) -> tensor<6xf32, #a>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<6xf32, #a>) {
    // expected-error @below {{on rank 1 meets another collective on rank 0: collective_permute of tensor<6xf32, #dtc.layout<#dtc.mesh<pp=3, mb=1>, pp: split(0)>> over [pp] meets one with another permutation}}
    %y = dtc.collective_permute %x over ["pp"] sources [2, 0, 1] : (tensor<6xf32, #a>) -> tensor<6xf32, #a>
    return
  }
}
module @stage2 attributes {dtc.stage = 2 : i64} {
  func.func @plan(%x: tensor<6xf32, #a>) {
    %y = dtc.collective_permute %x over ["pp"] sources [1, 2, 0] : (tensor<6xf32, #a>) -> tensor<6xf32, #a>
    return
  }
}
}
