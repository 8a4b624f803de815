// RUN: dtc-opt %s --dtc-await-gathers --split-input-file | FileCheck %s

// Gathers start at the end of the prologue, behind the sum, in the order in which
// they are used. The first run waits for each where it reads it; the second
// finds all there. %t, which is cut in the prologue, and %u, whose columns have to
// be put in order, stay.
#mesh = #dtc.mesh<pp=1, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#columns = #dtc.layout<#mesh, dp: split(1)>
#p = #dtc.layout<#mesh, dp: partial>
module @order {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>, %q: tensor<2x8xf32, #dp>, %t: tensor<4x4xf32, #dp>, %u: tensor<4x4xf32, #columns>, %n: tensor<f64, #p> {dtc.update = 5 : i64})
        -> (tensor<4x4xf32, #r>, tensor<2x8xf32, #r>, tensor<4x4xf32, #r>, tensor<2x4xf32, #r>, tensor<4x4xf32, #r>, tensor<f64, #r>) {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<2x8xf32, #dp>) -> tensor<2x8xf32, #r>
      %c = dtc.all_gather %t over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %s = dtc.slice %c axis 0 from 0 {view} : (tensor<4x4xf32, #r>) -> tensor<2x4xf32, #r>
      %d = dtc.all_gather %u over ["dp"] dim 1 : (tensor<4x4xf32, #columns>) -> tensor<4x4xf32, #r>
      %m = dtc.all_reduce sum %n over ["dp"] : (tensor<f64, #p>) -> tensor<f64, #r>
      return %a, %b, %c, %s, %d, %m : tensor<4x4xf32, #r>, tensor<2x8xf32, #r>, tensor<4x4xf32, #r>, tensor<2x4xf32, #r>, tensor<4x4xf32, #r>, tensor<f64, #r>
    }
    func.func private @forward(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>, %b: tensor<2x8xf32, #r>) -> tensor<4x4xf32, #r> {
      %v = dtc.reshape %b : (tensor<2x8xf32, #r>) -> tensor<4x4xf32, #r>
      %h = dtc.relu %x : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %y = dtc.matmul %h, %v : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %z = dtc.matmul %y, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %z : tensor<4x4xf32, #r>
    }
    func.func @plan(%x: tensor<4x4xf32, #r>, %p: tensor<4x4xf32, #dp>, %q: tensor<2x8xf32, #dp>, %t: tensor<4x4xf32, #dp>, %u: tensor<4x4xf32, #columns>, %n: tensor<f64, #p>) {
      %g:6 = dtc.run @prologue(%p, %q, %t, %u, %n) : (tensor<4x4xf32, #dp>, tensor<2x8xf32, #dp>, tensor<4x4xf32, #dp>, tensor<4x4xf32, #columns>, tensor<f64, #p>) -> (tensor<4x4xf32, #r>, tensor<2x8xf32, #r>, tensor<4x4xf32, #r>, tensor<2x4xf32, #r>, tensor<4x4xf32, #r>, tensor<f64, #r>)
      %0 = dtc.run @forward(%x, %g#0, %g#1) microbatch 0 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<2x8xf32, #r>) -> tensor<4x4xf32, #r>
      %1 = dtc.run @forward(%x, %g#0, %g#1) microbatch 1 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<2x8xf32, #r>) -> tensor<4x4xf32, #r>
      return
    }
  }
}

// CHECK-LABEL: module @order
// CHECK:         @prologue
// CHECK-NEXT:      %[[C:.*]] = dtc.all_gather %arg2 over ["dp"] dim 0 :
// CHECK-NEXT:      %[[S:.*]] = dtc.slice
// CHECK-NEXT:      %[[D:.*]] = dtc.all_gather %arg3 over ["dp"] dim 1 :
// CHECK-NEXT:      %[[M:.*]] = dtc.all_reduce
// CHECK-NEXT:      %[[B:.*]] = dtc.all_gather %arg1 over ["dp"] dim 0 {dtc.slot = [[#SLOT:]] : i64}
// CHECK-NEXT:      %[[A:.*]] = dtc.all_gather %arg0 over ["dp"] dim 0 {dtc.slot = [[#SLOT+1]] : i64}
// CHECK-NEXT:      return %[[A]], %[[B]], %[[C]], %[[S]], %[[D]], %[[M]]
// CHECK:         @forward(
// CHECK-NOT:       dtc.wait
// CHECK:         @forward.first(
// CHECK:           dtc.relu
// CHECK-NEXT:      dtc.wait %arg2 slot [[#SLOT]]
// CHECK-NEXT:      dtc.matmul
// CHECK-NEXT:      dtc.wait %arg1 slot [[#SLOT+1]]
// CHECK-NEXT:      dtc.matmul
// CHECK:         @plan
// CHECK:           dtc.run @forward.first({{.*}}) microbatch 0
// CHECK-NEXT:      dtc.run @forward({{.*}}) microbatch 1

// -----

// One run: it has the function for itself. What another function needs first,
// the plan waits for.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
module @once {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>, %q: tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      return %a, %b : tensor<4x4xf32, #r>, tensor<4x4xf32, #r>
    }
    func.func private @forward(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
      %y = dtc.matmul %x, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func private @weight(%x: tensor<4x4xf32, #r>, %b: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
      %y = dtc.matmul %x, %b : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func @plan(%x: tensor<4x4xf32, #r>, %p: tensor<4x4xf32, #dp>, %q: tensor<4x4xf32, #dp>) {
      %g:2 = dtc.run @prologue(%p, %q) : (tensor<4x4xf32, #dp>, tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>)
      %0 = dtc.run @forward(%x, %g#0) microbatch 0 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %1 = dtc.run @weight(%0, %g#1) microbatch 0 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return
    }
  }
}

// CHECK-LABEL: module @once
// CHECK-NOT:     @forward(
// CHECK:         @forward.first(
// CHECK-NEXT:      dtc.wait %arg1 slot [[#FIRST:]]
// CHECK:         @plan
// CHECK:           %[[G:.*]]:2 = dtc.run @prologue
// CHECK-NEXT:      dtc.run @forward.first
// CHECK-NEXT:      dtc.wait %[[G]]#1 slot [[#FIRST+1]]
// CHECK-NEXT:      dtc.run @weight

// -----

// Each chunk of a stage has its first run, and so has an evaluation. What is sent
// first the plan waits for. What is needed first when the last runs have begun to
// reduce gradients is not started: slots are theirs then.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
module @chunks {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>, %q: tensor<4x4xf32, #dp>, %s: tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %c = dtc.all_gather %s over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      return %a, %b, %c : tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>
    }
    func.func private @forward1(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
      %y = dtc.matmul %x, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func private @weight.last(%x: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
      %y = dtc.relu %x : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func private @update(%c: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
      %y = dtc.relu %c : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func @plan(%x: tensor<4x4xf32, #r>, %p: tensor<4x4xf32, #dp>, %q: tensor<4x4xf32, #dp>, %s: tensor<4x4xf32, #dp>) {
      %g:3 = dtc.run @prologue(%p, %q, %s) : (tensor<4x4xf32, #dp>, tensor<4x4xf32, #dp>, tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>)
      dtc.send %g#1 to 1 tag 0 slot 0 : tensor<4x4xf32, #r>
      %0 = dtc.run @forward1(%x, %g#0) microbatch 0 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %1 = dtc.run @weight.last(%0) microbatch 0 : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %2 = dtc.run @update(%g#2) : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return
    }
  }
  module @eval0 attributes {dtc.stage = 0 : i64, dtc.eval} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r> {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      return %a : tensor<4x4xf32, #r>
    }
    func.func private @forward(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
      %y = dtc.matmul %x, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func @plan(%x: tensor<4x4xf32, #r>, %p: tensor<4x4xf32, #dp>) {
      %g = dtc.run @prologue(%p) : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %0 = dtc.run @forward(%x, %g) microbatch 0 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return
    }
  }
}

// CHECK-LABEL: module @chunks
// CHECK:         module @stage0
// CHECK:           dtc.all_gather %arg2 over ["dp"] dim 0 :
// CHECK-NEXT:      dtc.all_gather %arg1 over ["dp"] dim 0 {dtc.slot = [[#SENT:]] : i64}
// CHECK-NEXT:      dtc.all_gather %arg0 over ["dp"] dim 0 {dtc.slot = [[#SENT+1]] : i64}
// CHECK:         @forward1.first(
// CHECK-NEXT:      dtc.wait %arg1 slot [[#SENT+1]]
// CHECK:         @plan
// CHECK:           %[[G:.*]]:3 = dtc.run @prologue
// CHECK-NEXT:      dtc.wait %[[G]]#1 slot [[#SENT]]
// CHECK-NEXT:      dtc.send %[[G]]#1 to 1
// CHECK-NEXT:      dtc.run @forward1.first
// CHECK-NOT:       dtc.wait
// CHECK:         module @eval0
// CHECK:         @forward.first(
// CHECK-NEXT:      dtc.wait %arg1
