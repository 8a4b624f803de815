// RUN: dtc-opt %s --dtc-overlap-communication --split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// Parameters that a step gathers once
//===----------------------------------------------------------------------===//

// Gathers start at the end of the prologue, behind the sum, in the order in which
// they are used. The first run waits for each where it reads it; the second
// finds all there. %u, whose columns have to be put in order, stays. %t, which is
// cut in the prologue, and the sum are in flight within it, one after the other.
#mesh = #dtc.mesh<pp=1, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
#columns = #dtc.layout<#mesh, dp: split(1)>
#p = #dtc.layout<#mesh, dp: partial>
module @order {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>, %q: tensor<2x8xf32, #dp>, %t: tensor<4x4xf32, #dp>, %u: tensor<4x4xf32, #columns>, %n: tensor<f64, #p> {dtc.update = 5 : i64})
        -> (tensor<4x4xf32, #r>, tensor<2x8xf32, #r>, tensor<4x4xf32, #r>, tensor<2x4xf32, #r>, tensor<4x4xf32, #r>, tensor<f64, #r>) attributes {dtc.phase = #dtc.phase<prologue>} {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<2x8xf32, #dp>) -> tensor<2x8xf32, #r>
      %c = dtc.all_gather %t over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %s = dtc.slice %c axis 0 from 0 {view} : (tensor<4x4xf32, #r>) -> tensor<2x4xf32, #r>
      %d = dtc.all_gather %u over ["dp"] dim 1 : (tensor<4x4xf32, #columns>) -> tensor<4x4xf32, #r>
      %m = dtc.all_reduce sum %n over ["dp"] : (tensor<f64, #p>) -> tensor<f64, #r>
      return %a, %b, %c, %s, %d, %m : tensor<4x4xf32, #r>, tensor<2x8xf32, #r>, tensor<4x4xf32, #r>, tensor<2x4xf32, #r>, tensor<4x4xf32, #r>, tensor<f64, #r>
    }
    func.func private @forward(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>, %b: tensor<2x8xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<forward>} {
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
// CHECK-NEXT:      %[[C:.*]] = dtc.all_gather %arg2 over ["dp"] dim 0 {dtc.async}
// CHECK-NEXT:      %[[S:.*]] = dtc.slice
// CHECK-NEXT:      %[[D:.*]] = dtc.all_gather %arg3 over ["dp"] dim 1 :
// CHECK-NEXT:      dtc.wait %[[C]]
// CHECK-NEXT:      %[[M:.*]] = dtc.all_reduce {{.*}} {dtc.async}
// CHECK-NEXT:      %[[B:.*]] = dtc.all_gather %arg1 over ["dp"] dim 0 {dtc.async}
// CHECK-NEXT:      %[[A:.*]] = dtc.all_gather %arg0 over ["dp"] dim 0 {dtc.async}
// CHECK-NEXT:      dtc.wait %[[M]]
// CHECK-NEXT:      return %[[A]], %[[B]], %[[C]], %[[S]], %[[D]], %[[M]]
// CHECK:         @forward(
// CHECK-NOT:       dtc.wait
// CHECK:         @forward.first(
// CHECK:           dtc.relu
// CHECK-NEXT:      dtc.wait %arg2
// CHECK-NEXT:      dtc.matmul
// CHECK-NEXT:      dtc.wait %arg1
// CHECK-NEXT:      dtc.matmul
// CHECK:         @plan
// CHECK:           dtc.run @forward.first({{.*}}) microbatch 0
// CHECK-NEXT:      dtc.run @forward({{.*}}) microbatch 1

// -----

// One run: it has the function for itself. The plan waits for values that
// another function needs first.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
module @once {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>, %q: tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) attributes {dtc.phase = #dtc.phase<prologue>} {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      return %a, %b : tensor<4x4xf32, #r>, tensor<4x4xf32, #r>
    }
    func.func private @forward(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<forward>} {
      %y = dtc.matmul %x, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func private @weight(%x: tensor<4x4xf32, #r>, %b: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<weight>} {
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
// CHECK-NEXT:      dtc.wait %arg1
// CHECK:         @plan
// CHECK:           %[[G:.*]]:2 = dtc.run @prologue
// CHECK-NEXT:      dtc.run @forward.first
// CHECK-NEXT:      dtc.wait %[[G]]#1
// CHECK-NEXT:      dtc.run @weight

// -----

// Each chunk of a stage has its first run, and so has an evaluation. The plan
// waits for values that it sends first. Values that are needed first after the
// last runs have begun to reduce gradients are not in flight that long: those
// need the slots.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
module @chunks {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>, %q: tensor<4x4xf32, #dp>, %s: tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) attributes {dtc.phase = #dtc.phase<prologue>} {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %c = dtc.all_gather %s over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      return %a, %b, %c : tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>
    }
    func.func private @forward1(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<forward 1>} {
      %y = dtc.matmul %x, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func private @weight.last(%x: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<weight last>} {
      %y = dtc.relu %x : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func private @update(%c: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<update>} {
      %y = dtc.relu %c : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %y : tensor<4x4xf32, #r>
    }
    func.func @plan(%x: tensor<4x4xf32, #r>, %p: tensor<4x4xf32, #dp>, %q: tensor<4x4xf32, #dp>, %s: tensor<4x4xf32, #dp>) {
      %g:3 = dtc.run @prologue(%p, %q, %s) : (tensor<4x4xf32, #dp>, tensor<4x4xf32, #dp>, tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>)
      %s0 = dtc.send %g#1 to 1 tag 0 : tensor<4x4xf32, #r>
      %0 = dtc.run @forward1(%x, %g#0) microbatch 0 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %1 = dtc.run @weight.last(%0) microbatch 0 : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %2 = dtc.run @update(%g#2) : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return
    }
  }
  module @eval0 attributes {dtc.stage = 0 : i64, dtc.program = "eval"} {
    func.func private @prologue(%p: tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<prologue>} {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      return %a : tensor<4x4xf32, #r>
    }
    func.func private @forward(%x: tensor<4x4xf32, #r>, %a: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<forward>} {
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
// CHECK:           dtc.all_gather %arg2 over ["dp"] dim 0 {dtc.async}
// CHECK-NEXT:      dtc.all_gather %arg1 over ["dp"] dim 0 {dtc.async}
// CHECK-NEXT:      dtc.all_gather %arg0 over ["dp"] dim 0 {dtc.async}
// CHECK-NEXT:      dtc.wait {{.*}}
// CHECK:         @forward1.first(
// CHECK-NEXT:      dtc.wait %arg1
// CHECK:         @plan
// CHECK:           %[[G:.*]]:3 = dtc.run @prologue
// CHECK-NEXT:      dtc.wait %[[G]]#1
// CHECK-NEXT:      dtc.send %[[G]]#1 to 1
// CHECK-NEXT:      dtc.run @forward1.first
// CHECK-NOT:       dtc.wait
// CHECK:         module @eval0
// CHECK:         @forward.first(
// CHECK-NEXT:      dtc.wait %arg1

// -----

//===----------------------------------------------------------------------===//
// Gradients of last runs, and collectives within a function
//===----------------------------------------------------------------------===//

// A last run starts its reductions, and the plan waits for each where an op
// needs it. A bucket that is read meanwhile must be the plan's.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
#s = #dtc.layout<#mesh, dp: split(0)>
module @last {
module @kernels {
  func.func @concat(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> attributes {dtc.kernel} {
    %0 = dtc.concat %a, %b axis 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @weight.last(%a: tensor<4xf32, #p> {dtc.update = 0 : i64}, %b: tensor<4xf32, #p>)
      -> (tensor<4xf32, #r>, tensor<8xf32, #s>) attributes {dtc.phase = #dtc.phase<weight last>} {
    %0 = dtc.launch @kernels::@concat(%b, %b) : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> tensor<8xf32, #p>
    %1 = dtc.reduce_scatter sum %0 over ["dp"] dim 0 : (tensor<8xf32, #p>) -> tensor<8xf32, #s>
    %2 = dtc.all_reduce sum %a over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    return %2, %1 : tensor<4xf32, #r>, tensor<8xf32, #s>
  }
  func.func private @reduce(%g: tensor<4xf32, #r>) -> tensor<4xf32, #r> attributes {dtc.phase = #dtc.phase<reduce>} {
    %0 = dtc.add %g, %g : (tensor<4xf32, #r>, tensor<4xf32, #r>) -> tensor<4xf32, #r>
    return %0 : tensor<4xf32, #r>
  }
  func.func private @update(%g: tensor<8xf32, #s>) -> tensor<8xf32, #s> attributes {dtc.phase = #dtc.phase<update>} {
    %0 = dtc.add %g, %g : (tensor<8xf32, #s>, tensor<8xf32, #s>) -> tensor<8xf32, #s>
    return %0 : tensor<8xf32, #s>
  }
  func.func @plan(%a: tensor<4xf32, #p>, %b: tensor<4xf32, #p>) -> (tensor<8xf32, #s>, tensor<4xf32, #r>) {
    %0:2 = dtc.run @weight.last(%a, %b) microbatch 0 : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> (tensor<4xf32, #r>, tensor<8xf32, #s>)
    %1 = dtc.run @reduce(%0#0) : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %2 = dtc.run @update(%0#1) : (tensor<8xf32, #s>) -> tensor<8xf32, #s>
    return %2, %1 : tensor<8xf32, #s>, tensor<4xf32, #r>
  }
}
}

// CHECK-LABEL: module @last
// CHECK:         @weight.last(%[[A:[a-z0-9]+]]: {{.*}}) -> ({{.*}}, {{.*}}, tensor<8xf32, #partial_dp>)
// CHECK-NEXT:      %[[B:.*]] = dtc.launch @kernels::@concat
// CHECK-NEXT:      %[[S:.*]] = dtc.reduce_scatter sum %[[B]] over ["dp"] dim 0 {dtc.async}
// CHECK-NEXT:      %[[R:.*]] = dtc.all_reduce sum %[[A]] over ["dp"] {dtc.async}
// CHECK-NEXT:      return %[[R]], %[[S]], %[[B]]
// CHECK:         @plan
// CHECK-NEXT:      %[[W:.*]]:3 = dtc.run @weight.last
// CHECK-NEXT:      dtc.wait %[[W]]#0
// CHECK-NEXT:      dtc.run @reduce(%[[W]]#0)
// CHECK-NEXT:      dtc.wait %[[W]]#1
// CHECK-NEXT:      dtc.run @update(%[[W]]#1)

// -----

// Within a function: what adds a scattered gradient waits until the next one
// starts or the function ends. Nothing happens beside the last one.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial>
#s = #dtc.layout<#mesh, dp: split(0)>
module @within {
module @kernels {
  func.func @mul(%a: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.kernel} {
    %0 = dtc.mul %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @accumulate(%x: tensor<2xf32>, %a: tensor<2xf32> {dtc.update = 0 : i64}) -> tensor<2xf32> attributes {dtc.kernel} {
    %0 = dtc.accumulate %x into %a : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @weight(%x: tensor<4xf32, #p>, %y: tensor<4xf32, #p>, %a: tensor<4xf32, #s> {dtc.update = 0 : i64},
                            %b: tensor<4xf32, #s> {dtc.update = 1 : i64}) -> (tensor<4xf32, #s>, tensor<4xf32, #s>) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.reduce_scatter sum %x over ["dp"] dim 0 : (tensor<4xf32, #p>) -> tensor<4xf32, #s>
    %1 = dtc.launch @kernels::@accumulate(%0, %a) : (tensor<4xf32, #s>, tensor<4xf32, #s>) -> tensor<4xf32, #s>
    %2 = dtc.launch @kernels::@mul(%y) : (tensor<4xf32, #p>) -> tensor<4xf32, #p>
    %3 = dtc.reduce_scatter sum %2 over ["dp"] dim 0 : (tensor<4xf32, #p>) -> tensor<4xf32, #s>
    %4 = dtc.launch @kernels::@accumulate(%3, %b) : (tensor<4xf32, #s>, tensor<4xf32, #s>) -> tensor<4xf32, #s>
    return %1, %4 : tensor<4xf32, #s>, tensor<4xf32, #s>
  }
  func.func @plan(%x: tensor<4xf32, #p>) -> tensor<4xf32, #p> {
    return %x : tensor<4xf32, #p>
  }
}
}

// CHECK-LABEL: module @within
// CHECK:         @weight
// CHECK-NEXT:      %[[S:.*]] = dtc.reduce_scatter {{.*}} {dtc.async}
// CHECK-NEXT:      %[[Y:.*]] = dtc.launch @kernels::@mul
// CHECK-NEXT:      dtc.wait %[[S]]
// CHECK-NEXT:      dtc.launch @kernels::@accumulate(%[[S]]
// CHECK-NEXT:      %[[T:.*]] = dtc.reduce_scatter sum %[[Y]] over ["dp"] dim 0 :
// CHECK-NEXT:      dtc.launch @kernels::@accumulate(%[[T]]
// CHECK-NEXT:      return

// -----

// Somebody needs what the reader makes, or overwrites what it reads: it stays,
// and there is nothing to hide behind. Nor is a scatter along another dimension
// started, which ends with putting parts in order.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#p = #dtc.layout<#mesh, dp: partial>
#s = #dtc.layout<#mesh, dp: split(0)>
#c = #dtc.layout<#mesh, dp: split(1)>
module @stays {
module @kernels {
  func.func @mul(%a: tensor<2xf32>) -> tensor<2xf32> attributes {dtc.kernel} {
    %0 = dtc.mul %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @weight(%x: tensor<4xf32, #p>) -> (tensor<4xf32, #s>, tensor<4xf32, #s>) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.reduce_scatter sum %x over ["dp"] dim 0 : (tensor<4xf32, #p>) -> tensor<4xf32, #s>
    %1 = dtc.launch @kernels::@mul(%0) : (tensor<4xf32, #s>) -> tensor<4xf32, #s>
    %2 = dtc.launch @kernels::@mul(%1) : (tensor<4xf32, #s>) -> tensor<4xf32, #s>
    return %1, %2 : tensor<4xf32, #s>, tensor<4xf32, #s>
  }
  func.func private @weight.last(%x: tensor<4x4xf32, #p>) -> tensor<4x4xf32, #c> attributes {dtc.phase = #dtc.phase<weight last>} {
    %0 = dtc.reduce_scatter sum %x over ["dp"] dim 1 : (tensor<4x4xf32, #p>) -> tensor<4x4xf32, #c>
    return %0 : tensor<4x4xf32, #c>
  }
  func.func @plan(%x: tensor<4x4xf32, #p>) -> tensor<4x4xf32, #c> {
    %0 = dtc.run @weight.last(%x) microbatch 0 : (tensor<4x4xf32, #p>) -> tensor<4x4xf32, #c>
    return %0 : tensor<4x4xf32, #c>
  }
}
}

// CHECK-LABEL: module @stays
// CHECK-NOT:     dtc.slot
// CHECK-NOT:     dtc.wait

// -----

// The wait comes before what a collective reads is overwritten, and at the end
// of the plan if nobody needs what a last run has reduced.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
#s = #dtc.layout<#mesh, dp: split(0)>
module @overwritten {
module @kernels {
  func.func @accumulate(%x: tensor<2xf32>, %a: tensor<2xf32> {dtc.update = 0 : i64}) -> tensor<2xf32> attributes {dtc.kernel} {
    %0 = dtc.accumulate %x into %a : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @mul(%a: tensor<4xf32>) -> tensor<4xf32> attributes {dtc.kernel} {
    %0 = dtc.mul %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%d: tensor<4xf32, #s>, %x: tensor<4xf32, #s> {dtc.update = 0 : i64}, %e: tensor<4xf32, #r>)
      -> (tensor<4xf32, #s>, tensor<4xf32, #r>, tensor<4xf32, #r>) attributes {dtc.phase = #dtc.phase<update>} {
    %0 = dtc.all_gather %x over ["dp"] dim 0 : (tensor<4xf32, #s>) -> tensor<4xf32, #r>
    %1 = dtc.launch @kernels::@mul(%e) : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %2 = dtc.launch @kernels::@accumulate(%d, %x) : (tensor<4xf32, #s>, tensor<4xf32, #s>) -> tensor<4xf32, #s>
    return %2, %0, %1 : tensor<4xf32, #s>, tensor<4xf32, #r>, tensor<4xf32, #r>
  }
  func.func private @weight.last(%a: tensor<4xf32, #p> {dtc.update = 0 : i64}) -> tensor<4xf32, #r> attributes {dtc.phase = #dtc.phase<weight last>} {
    %0 = dtc.all_reduce sum %a over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    return %0 : tensor<4xf32, #r>
  }
  func.func @plan(%a: tensor<4xf32, #p>, %e: tensor<4xf32, #r>) -> tensor<4xf32, #r> {
    %0 = dtc.run @weight.last(%a) microbatch 0 : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    return %e : tensor<4xf32, #r>
  }
}
}

// CHECK-LABEL: module @overwritten
// CHECK:         @update
// CHECK-NEXT:      %[[G:.*]] = dtc.all_gather {{.*}} {dtc.async}
// CHECK-NEXT:      dtc.launch @kernels::@mul
// CHECK-NEXT:      dtc.wait %[[G]]
// CHECK-NEXT:      dtc.launch @kernels::@accumulate
// CHECK:         @plan
// CHECK-NEXT:      %[[W:.*]] = dtc.run @weight.last
// CHECK-NEXT:      dtc.wait %[[W]]
// CHECK-NEXT:      return

// -----

//===----------------------------------------------------------------------===//
// Parameters that functions gather
//===----------------------------------------------------------------------===//

// The second gather starts where the first is used, through a view, and is
// waited for where it is used itself; the third likewise. The last is needed at
// once with the third and is not waited for apart. Another gather stays.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#dp = #dtc.layout<#mesh, dp: split(0)>
#columns = #dtc.layout<#mesh, dp: split(1)>
#r = #dtc.layout<#mesh>
module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    // CHECK: func.func private @forward
    // CHECK: %[[A:.*]] = dtc.all_gather %arg1 over ["dp"] dim 0 :
    // CHECK: %[[AV:.*]] = dtc.reshape %[[A]]
    // CHECK: %[[B:.*]] = dtc.all_gather %arg2 over ["dp"] dim 0 {dtc.async}
    // CHECK: %[[X:.*]] = dtc.matmul %arg0, %[[AV]]
    // CHECK: dtc.wait %[[B]]
    // CHECK: %[[C:.*]] = dtc.all_gather %arg3 over ["dp"] dim 0 {dtc.async}
    // CHECK: %[[Y:.*]] = dtc.matmul %[[X]], %[[B]]
    // CHECK: %[[D:.*]] = dtc.all_gather %arg4 over ["dp"] dim 0 :
    // CHECK: dtc.wait %[[C]]
    // CHECK: dtc.add %[[C]], %[[D]]
    // CHECK: dtc.all_gather %arg5 over ["dp"] dim 0 :
    func.func private @forward(%x: tensor<4x4xf32, #r>,
        %p: tensor<2x8xf32, #dp> {dtc.gathered_at_use}, %q: tensor<4x4xf32, #dp> {dtc.gathered_at_use},
        %s: tensor<4x4xf32, #dp> {dtc.gathered_at_use}, %t: tensor<4x4xf32, #dp> {dtc.gathered_at_use},
        %other: tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) attributes {dtc.phase = #dtc.phase<forward>} {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<2x8xf32, #dp>) -> tensor<2x8xf32, #r>
      %av = dtc.reshape %a : (tensor<2x8xf32, #r>) -> tensor<4x4xf32, #r>
      %h = dtc.matmul %x, %av : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %y = dtc.matmul %h, %b : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %c = dtc.all_gather %s over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %d = dtc.all_gather %t over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %z = dtc.add %c, %d : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %o = dtc.all_gather %other over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %w = dtc.matmul %y, %o : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %z, %w : tensor<4x4xf32, #r>, tensor<4x4xf32, #r>
    }
    // The gather that is used last stands first: it is not waited for, and the
    // slot is free for the other.
    // CHECK: func.func private @backward
    // CHECK: dtc.all_gather %arg1 over ["dp"] dim 0 :
    // CHECK: dtc.all_gather %arg2 over ["dp"] dim 0 :
    // CHECK: dtc.all_gather %arg3 over ["dp"] dim 0 {dtc.async}
    // CHECK: dtc.matmul
    // CHECK: dtc.wait
    // CHECK: dtc.matmul
    // CHECK-NOT: dtc.wait
    func.func private @backward(%x: tensor<4x4xf32, #r>,
        %p: tensor<4x4xf32, #dp> {dtc.gathered_at_use}, %q: tensor<4x4xf32, #dp> {dtc.gathered_at_use},
        %s: tensor<4x4xf32, #dp> {dtc.gathered_at_use}) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<backward>} {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %y = dtc.matmul %x, %b : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %c = dtc.all_gather %s over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %z = dtc.matmul %y, %c : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %w = dtc.matmul %z, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %w : tensor<4x4xf32, #r>
    }
    // Columns have to be put in order when they are there: not while the product
    // before runs.
    // CHECK: func.func private @weight
    // CHECK: dtc.matmul
    // CHECK: dtc.all_gather %arg2 over ["dp"] dim 1 :
    // CHECK-NOT: dtc.wait
    func.func private @weight(%x: tensor<4x4xf32, #r>,
        %p: tensor<4x4xf32, #dp> {dtc.gathered_at_use}, %q: tensor<4x4xf32, #columns> {dtc.gathered_at_use}) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<weight>} {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %y = dtc.matmul %x, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 1 : (tensor<4x4xf32, #columns>) -> tensor<4x4xf32, #r>
      %z = dtc.matmul %y, %b : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %z : tensor<4x4xf32, #r>
    }
    func.func @plan() {
      return
    }
  }
}
