// RUN: dtc-opt %s --dtc-verify-communication --split-input-file --verify-diagnostics

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
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    %g = dtc.recv from 1 tag 1 : tensor<4xf32, #p>
    dtc.wait %x slot 0 : tensor<4xf32, #r>
    %n = dtc.zero : tensor<f64, #s>
    %0:2 = dtc.run @update(%g, %n) : (tensor<4xf32, #p>, tensor<f64, #s>) -> (tensor<4xf32, #r>, tensor<f64, #r>)
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    %x = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    %g = dtc.zero : tensor<4xf32, #p>
    dtc.send %g to 0 tag 1 slot 0 : tensor<4xf32, #p>
    %n = dtc.zero : tensor<f64, #s>
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    dtc.wait %g slot 0 : tensor<4xf32, #p>
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
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    dtc.wait %x slot 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-note @below {{rank 1 waits here}}
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
    dtc.send %x to 0 tag 1 slot 0 : tensor<4xf32, #r>
    dtc.wait %x slot 0 : tensor<4xf32, #r>
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
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    // expected-error @below {{never happens: ranks wait for each other in a cycle, rank 0 here}}
    dtc.wait %x slot 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    // expected-note @below {{rank 1 waits here}}
    %y = dtc.recv from 0 tag 7 : tensor<4xf32, #r>
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
    // expected-error @below {{is never received by stage 1}}
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
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
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    dtc.wait %x slot 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    // expected-error @below {{receives 'tensor<8xf32, #dtc.layout<#dtc.mesh<pp=2, mb=1>>>', but is sent 'tensor<4xf32, #dtc.layout<#dtc.mesh<pp=2, mb=1>>>'}}
    %y = dtc.recv from 0 tag 0 : tensor<8xf32, #r>
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
    // expected-error @below {{on rank 0 meets another collective on rank 1}}
    %0 = dtc.all_reduce sum %n over ["pp"] : (tensor<f64, #s>) -> tensor<f64, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %n = dtc.zero : tensor<f64, #m>
    // expected-note @below {{the other collective}}
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
    // expected-error @below {{never happens: rank 0 waits here for rank 1, which has come to its end}}
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
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    dtc.wait %x slot 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    // expected-note @below {{rank 1 waits here}}
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
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
    // expected-note @below {{the other send}}
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    // expected-error @below {{uses tag 0 to stage 1 while another message with it is under way}}
    dtc.send %x to 1 tag 0 slot 1 : tensor<4xf32, #r>
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
    // expected-note @below {{the other send}}
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    // expected-error @below {{uses slot 0, which still belongs to another send}}
    dtc.send %x to 1 tag 1 slot 0 : tensor<4xf32, #r>
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
    dtc.send %x to 1 tag 0 slot 0 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan() {
    %y = dtc.recv from 0 tag 0 : tensor<4xf32, #r>
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
    // expected-error @below {{waits for slot 3, which no send has taken}}
    dtc.wait %x slot 3 : tensor<4xf32, #r>
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

// More sends under way than the runtime has slots.
#mesh = #dtc.mesh<pp=2, mb=6000>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-error @below {{has 6000 sends under way at once with 6000 micro-batches, expected at most 4096; --microbatches 3000 would do}}
  func.func @plan(%x: tensor<4xf32, #r>) {
    dtc.send %x to 1 tag 5999 slot 5999 : tensor<4xf32, #r>
    dtc.wait %x slot 5999 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) {
    %y = dtc.recv from 0 tag 5999 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// Of two rounds, only one's sends are under way.
#mesh = #dtc.mesh<pp=2, mb=6000>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-error @below {{has 6000 sends under way at once with 3000 micro-batches, expected at most 4096; --microbatches 1500 would do}}
  func.func @plan(%x: tensor<4xf32, #r>) attributes {dtc.rounds = 2 : i64} {
    dtc.send %x to 1 tag 5999 slot 5999 : tensor<4xf32, #r>
    dtc.wait %x slot 5999 : tensor<4xf32, #r>
    return
  }
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func @plan(%x: tensor<4xf32, #r>) attributes {dtc.rounds = 2 : i64} {
    %y = dtc.recv from 0 tag 5999 : tensor<4xf32, #r>
    return
  }
}
}

// -----

// A collective that starts has a slot beyond those of sends.
#mesh = #dtc.mesh<dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial(sum)>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%x: tensor<4xf32, #p>) {
    // expected-error @below {{uses slot 4160, expected 4096 to 4159}}
    %0 = dtc.all_reduce sum %x over ["dp"] {dtc.slot = 4160 : i64} : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    dtc.wait %0 slot 4160 : tensor<4xf32, #r>
    return
  }
}
}
