// RUN: dtc-opt %s --dtc-plan-memory --dtc-verify=invariant=memory --split-input-file | FileCheck %s

#mesh = #dtc.mesh<pp=1, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // %0 and %2 do not live together, %1 lives with both; a view has no memory
  // of its own; a result is the caller's memory.
  // CHECK-LABEL: func.func private @forward(
  // CHECK-SAME:      dtc.frame_bytes = 768
  // CHECK-NEXT:    dtc.relu %{{.*}} {dtc.offsets = array<i64: [[A:[0-9]+]]>}
  // CHECK-NEXT:    dtc.exp %{{.*}} {dtc.offsets = array<i64: [[B:[0-9]+]]>}
  // CHECK-NEXT:    dtc.reshape %{{.*}} {dtc.offsets = array<i64: [[B]]>}
  // CHECK-NEXT:    dtc.neg %{{.*}} {dtc.offsets = array<i64: [[A]]>}
  // CHECK-NEXT:    dtc.add %{{.*}} {dtc.offsets = array<i64: -1>}
  func.func private @forward(%x: tensor<16x12xf32, #d>) -> tensor<192xf32, #d> {
    %0 = dtc.relu %x : (tensor<16x12xf32, #d>) -> tensor<16x12xf32, #d>
    %1 = dtc.exp %0 : (tensor<16x12xf32, #d>) -> tensor<16x12xf32, #d>
    %2 = dtc.reshape %1 : (tensor<16x12xf32, #d>) -> tensor<192xf32, #d>
    %3 = dtc.neg %2 : (tensor<192xf32, #d>) -> tensor<192xf32, #d>
    %4 = dtc.add %3, %2 : (tensor<192xf32, #d>, tensor<192xf32, #d>) -> tensor<192xf32, #d>
    return %4 : tensor<192xf32, #d>
  }
  // CHECK-LABEL: func.func private @weight(
  // CHECK:         dtc.accumulate {{.*}} {dtc.offsets = array<i64: -1>}
  func.func private @weight(%y: tensor<192xf32, #d>, %s: tensor<1xf32, #p> {dtc.update = 0 : i64}, %t: tensor<1xf32, #p> {dtc.update = 1 : i64})
      -> (tensor<1xf32, #p>, tensor<1xf32, #p>) {
    %0 = dtc.reduce_sum %y axes [0] : (tensor<192xf32, #d>) -> tensor<1xf32, #p>
    %1 = dtc.accumulate %0 into %s : tensor<1xf32, #p>
    %2 = dtc.accumulate %0 into %t : tensor<1xf32, #p>
    return %1, %2 : tensor<1xf32, #p>, tensor<1xf32, #p>
  }
  func.func private @update(%s: tensor<1xf32, #p> {dtc.update = 0 : i64}, %t: tensor<1xf32, #p> {dtc.update = 1 : i64})
      -> (tensor<1xf32, #r>, tensor<1xf32, #r>) {
    %0:2 = dtc.all_reduce sum %s, %t over ["dp"] : (tensor<1xf32, #p>, tensor<1xf32, #p>) -> (tensor<1xf32, #r>, tensor<1xf32, #r>)
    return %0#0, %0#1 : tensor<1xf32, #r>, tensor<1xf32, #r>
  }
  // An input holds all micro-batches of this rank, 2 x 384 bytes. The buffers
  // that one collective reduces lie side by side.
  // CHECK-LABEL: func.func @plan(
  // CHECK-SAME:      dtc.offset = [[#X:]] : i64
  // CHECK-SAME:      dtc.arena_bytes = 2048
  // CHECK-NEXT:    dtc.zero {dtc.offsets = array<i64: [[#S:]]>}
  // CHECK-NEXT:    dtc.zero {dtc.offsets = array<i64: [[#S + 64]]>}
  // CHECK-NEXT:    dtc.microbatch %{{.*}}[0] {dtc.offsets = array<i64: [[#X]]>}
  // CHECK-NEXT:    dtc.run @forward({{.*}}) microbatch 0 {dtc.frame_offset = {{[0-9]+}} : i64, dtc.offsets = array<i64: [[Y:[0-9]+]]>}
  // CHECK-NEXT:    dtc.run @weight({{.*}}) microbatch 0 {dtc.frame_offset = {{[0-9]+}} : i64, dtc.offsets = array<i64: [[#S]], [[#S + 64]]>}
  // CHECK-NEXT:    dtc.microbatch %{{.*}}[1] {dtc.offsets = array<i64: [[#X + 384]]>}
  // CHECK:         dtc.run @update({{.*}}) {{.*}}dtc.offsets = array<i64: [[#S]], [[#S + 64]]>}
  func.func @plan(%x: tensor<32x12xf32, #b> {dtc.input = "x"}) -> (tensor<1xf32, #r>, tensor<1xf32, #r>) {
    %s = dtc.zero : tensor<1xf32, #p>
    %t = dtc.zero : tensor<1xf32, #p>
    %x0 = dtc.microbatch %x[0] : tensor<32x12xf32, #b> -> tensor<16x12xf32, #d>
    %y0 = dtc.run @forward(%x0) microbatch 0 : (tensor<16x12xf32, #d>) -> tensor<192xf32, #d>
    %s0:2 = dtc.run @weight(%y0, %s, %t) microbatch 0 : (tensor<192xf32, #d>, tensor<1xf32, #p>, tensor<1xf32, #p>) -> (tensor<1xf32, #p>, tensor<1xf32, #p>)
    %x1 = dtc.microbatch %x[1] : tensor<32x12xf32, #b> -> tensor<16x12xf32, #d>
    %y1 = dtc.run @forward(%x1) microbatch 1 : (tensor<16x12xf32, #d>) -> tensor<192xf32, #d>
    %s1:2 = dtc.run @weight(%y1, %s0#0, %s0#1) microbatch 1 : (tensor<192xf32, #d>, tensor<1xf32, #p>, tensor<1xf32, #p>) -> (tensor<1xf32, #p>, tensor<1xf32, #p>)
    %g:2 = dtc.run @update(%s1#0, %s1#1) : (tensor<1xf32, #p>, tensor<1xf32, #p>) -> (tensor<1xf32, #r>, tensor<1xf32, #r>)
    return %g#0, %g#1 : tensor<1xf32, #r>, tensor<1xf32, #r>
  }
}
}

// -----

// New values of arguments that one collective wants side by side, in another order
// than that of the arguments: they have places of their own.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%a: tensor<1xf32, #r>, %b: tensor<1xf32, #r>, %x: tensor<8xf32, #d>) -> tensor<8xf32, #d> {
    %0 = dtc.add %x, %a : (tensor<8xf32, #d>, tensor<1xf32, #r>) -> tensor<8xf32, #d>
    %1 = dtc.add %0, %b : (tensor<8xf32, #d>, tensor<1xf32, #r>) -> tensor<8xf32, #d>
    return %1 : tensor<8xf32, #d>
  }
  func.func private @update(%y: tensor<8xf32, #d>) -> (tensor<1xf32, #r>, tensor<1xf32, #r>) {
    %0 = dtc.reduce_sum %y axes [0] : (tensor<8xf32, #d>) -> tensor<1xf32, #p>
    %1 = dtc.reduce_sum %y axes [0] : (tensor<8xf32, #d>) -> tensor<1xf32, #p>
    %2:2 = dtc.all_reduce sum %0, %1 over ["dp"] : (tensor<1xf32, #p>, tensor<1xf32, #p>) -> (tensor<1xf32, #r>, tensor<1xf32, #r>)
    return %2#0, %2#1 : tensor<1xf32, #r>, tensor<1xf32, #r>
  }
  // CHECK-LABEL: func.func @plan(
  // CHECK-SAME:  dtc.offset = [[#PLACE:]] : i64
  // CHECK: dtc.run @update({{.*}}dtc.offsets = array<i64: [[#PLACE-128]], [[#PLACE-64]]>
  func.func @plan(%a: tensor<1xf32, #r> {dtc.parameter = "a"}, %b: tensor<1xf32, #r> {dtc.parameter = "b"}, %x: tensor<8xf32, #d> {dtc.input = "x"})
      -> (tensor<1xf32, #r> {dtc.parameter = "b"}, tensor<1xf32, #r> {dtc.parameter = "a"}) {
    %y = dtc.run @forward(%a, %b, %x) : (tensor<1xf32, #r>, tensor<1xf32, #r>, tensor<8xf32, #d>) -> tensor<8xf32, #d>
    %u:2 = dtc.run @update(%y) : (tensor<8xf32, #d>) -> (tensor<1xf32, #r>, tensor<1xf32, #r>)
    return %u#0, %u#1 : tensor<1xf32, #r>, tensor<1xf32, #r>
  }
}
}

// -----

// A slice that may be a view lies in its operand where its elements are side by
// side, and has memory of its own where they are not.
#mesh = #dtc.mesh<pp=1, mb=1>
#r = #dtc.layout<#mesh>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // CHECK-LABEL: func.func private @forward(
  // CHECK-NEXT:    dtc.relu {{.*}}dtc.offsets = array<i64: [[#X:]]>
  // CHECK-NEXT:    dtc.slice %{{.*}} axis 0 from 2 {dtc.offsets = array<i64: [[#X+256]]>, view}
  // CHECK-NEXT:    dtc.slice %{{.*}} axis 1 from 0 {dtc.offsets = array<i64: [[#X+512]]>, view}
  func.func private @forward(%x: tensor<4x32xf32, #r>) -> tensor<2x16xf32, #r> {
    %0 = dtc.relu %x : (tensor<4x32xf32, #r>) -> tensor<4x32xf32, #r>
    %1 = dtc.slice %0 axis 0 from 2 {view} : (tensor<4x32xf32, #r>) -> tensor<2x32xf32, #r>
    %2 = dtc.slice %0 axis 1 from 0 {view} : (tensor<4x32xf32, #r>) -> tensor<4x16xf32, #r>
    %3 = dtc.slice %1 axis 1 from 16 : (tensor<2x32xf32, #r>) -> tensor<2x16xf32, #r>
    %4 = dtc.slice %2 axis 0 from 0 : (tensor<4x16xf32, #r>) -> tensor<2x16xf32, #r>
    %5 = dtc.add %3, %4 : (tensor<2x16xf32, #r>, tensor<2x16xf32, #r>) -> tensor<2x16xf32, #r>
    return %5 : tensor<2x16xf32, #r>
  }
  func.func @plan(%x: tensor<4x32xf32, #r> {dtc.input = "x"}) {
    %y = dtc.run @forward(%x) microbatch 0 : (tensor<4x32xf32, #r>) -> tensor<2x16xf32, #r>
    return
  }
}
}
