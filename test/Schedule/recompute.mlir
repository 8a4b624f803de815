// RUN: dtc-opt %s --dtc-recompute=policy=none | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: dtc-opt %s --dtc-recompute=policy=all | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: dtc-opt %s --dtc-recompute=policy=except-last | FileCheck %s --check-prefixes=CHECK,LAST
// RUN: dtc-opt %s --dtc-recompute=policy=every:2 | FileCheck %s --check-prefixes=CHECK,EVERY
// RUN: dtc-opt %s --dtc-recompute=policy=selective | FileCheck %s --check-prefixes=CHECK,SELECTIVE
// RUN: dtc-opt %s --dtc-recompute=policy=/h.1/* | FileCheck %s --check-prefixes=CHECK,PATTERN
// RUN: not dtc-opt %s --dtc-recompute=policy=every:0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not dtc-opt %s --dtc-recompute=policy=every:two 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not dtc-opt %s --dtc-recompute=policy=layers 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not dtc-opt %s --dtc-recompute=policy=[ 2>&1 | FileCheck %s --check-prefix=BRACKET

// ZERO: error: cannot recompute 'every:0', expected every:N with N at least 1
// WORD: error: cannot recompute 'every:two', expected every:N with N at least 1
// NOTHING: error: cannot recompute 'layers': no node of the forward pass has such a name, and policies are none, all, except-last, every:N and selective
// BRACKET: error: cannot recompute '[': invalid glob pattern

#mesh = #dtc.mesh<pp=2, tp=2, mb=2>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, tp: partial>
!t = tensor<4x4xf32, #r>
!p = tensor<4x4xf32, #p>
module {

// Three units: %h; what is added to it; %t, %y and %u. %h and %r are cuts. %n is
// none, since %h is read after it, nor is %t, which follows %r without a
// product. %mask is no activation: it depends on an input alone.
//
// A cut that was not saved gets a number of its own, 92 or 93. Each op is
// cloned before its first use, the last unit first.
module @stage0 attributes {dtc.stage = 0 : i64} {
  // CHECK-LABEL: module @stage0
  // CHECK:         func.func private @forward(%[[X:.+]]: {{.+}} {dtc.value = 0 : i64}, %[[W1:.+]]: {{.+}} {dtc.value = 1 : i64}
  // NONE-SAME:       -> ({{.*}} {dtc.value = 10 : i64}, {{.*}} {dtc.value = 11 : i64}, {{.*}} {dtc.value = 12 : i64}, {{.*}} {dtc.value = 13 : i64}) attributes
  // ALL-SAME:        -> ({{[^{]*}} {dtc.value = 92 : i64}, {{[^{]*}} {dtc.value = 93 : i64}) attributes
  // LAST-SAME:       -> ({{[^{]*}} {dtc.value = 11 : i64}, {{[^{]*}} {dtc.value = 12 : i64}, {{[^{]*}} {dtc.value = 92 : i64}) attributes
  // EVERY-SAME:      -> (tensor<{{[^{]*}} {dtc.value = 92 : i64}) attributes
  // Nothing but @weight needs %u: %y is kept, and %u made there, as it would be here.
  // SELECTIVE-SAME:  -> ({{[^{]*}} {dtc.value = 10 : i64}, {{[^{]*}} {dtc.value = 11 : i64}, {{[^{]*}} {dtc.value = 92 : i64}) attributes
  // PATTERN-SAME:    -> ({{[^{]*}} {dtc.value = 11 : i64}, {{[^{]*}} {dtc.value = 12 : i64}, {{[^{]*}} {dtc.value = 13 : i64}, {{[^{]*}} {dtc.value = 92 : i64}) attributes
  // Ops that only recomputed results needed are gone, %mask included.
  // ALL-NEXT:        %[[H:.+]] = dtc.matmul %[[X]], %[[W1]]
  // ALL-NEXT:        %[[N:.+]] = dtc.tanh %[[H]]
  // ALL-NEXT:        %[[M:.+]] = dtc.matmul %[[N]]
  // ALL-NEXT:        %[[R:.+]] = dtc.add %[[H]], %[[M]]
  // ALL-NEXT:        return %[[R]], %[[H]]
  func.func private @forward(%x: !t {dtc.value = 0}, %w1: !t {dtc.value = 1}, %w2: !t {dtc.value = 2}, %w3: !t {dtc.value = 3})
      -> (!t {dtc.value = 10}, !t {dtc.value = 11}, !t {dtc.value = 12}, !t {dtc.value = 13}) attributes {dtc.phase = #dtc.phase<forward>} {
    %mask = dtc.neg %x : (!t) -> !t
    %h = dtc.matmul %x, %w1 : (!t, !t) -> !t loc("/h.0/MatMul")
    %n = dtc.tanh %h : (!t) -> !t loc("/h.1/Tanh")
    %m = dtc.matmul %n, %w2 : (!t, !t) -> !t loc("/h.1/MatMul")
    %r = dtc.add %h, %m : (!t, !t) -> !t loc("/h.1/Add")
    %t = dtc.tanh %r : (!t) -> !t loc("/h.2/Tanh")
    %y = dtc.matmul %t, %w3 : (!t, !t) -> !t loc("/h.2/MatMul")
    %u = dtc.mul %y, %mask : (!t, !t) -> !t loc("/h.2/Mul")
    return %n, %t, %u, %mask : !t, !t, !t, !t
  }

  // ALL:           func.func private @weight(%[[X:.+]]: {{.+}} {dtc.value = 0 : i64}, %[[R:.+]]: {{.+}} {dtc.value = 92 : i64}, %[[W3:.+]]: {{.+}} {dtc.value = 3 : i64}, %[[H:.+]]: {{.+}} {dtc.value = 93 : i64}) ->
  // ALL-NEXT:        %[[T:.+]] = dtc.tanh %[[R]]
  // ALL-NEXT:        %[[Y:.+]] = dtc.matmul %[[T]], %[[W3]]
  // ALL-NEXT:        %[[MASK:.+]] = dtc.neg %[[X]]
  // ALL-NEXT:        %[[U:.+]] = dtc.mul %[[Y]], %[[MASK]]
  // ALL-NEXT:        %[[DU:.+]] = dtc.sub %[[U]], %[[MASK]]
  // ALL-NEXT:        %[[DT:.+]] = dtc.matmul %[[T]], %[[DU]]
  // ALL-NEXT:        %[[N:.+]] = dtc.tanh %[[H]]
  // ALL-NEXT:        dtc.matmul %[[N]], %[[DT]]

  // LAST:          func.func private @weight(%[[X:.+]]: {{.+}} {dtc.value = 0 : i64}, %[[T:.+]]: {{.+}} {dtc.value = 11 : i64}, %[[U:.+]]: {{.+}} {dtc.value = 12 : i64}, %[[H:.+]]: {{.+}} {dtc.value = 92 : i64}) ->
  // LAST-NEXT:       %[[MASK:.+]] = dtc.neg %[[X]]
  // LAST-NEXT:       dtc.sub %[[U]], %[[MASK]]
  // LAST-NEXT:       dtc.matmul %[[T]]
  // LAST-NEXT:       dtc.tanh %[[H]]

  // The pass keeps %r and not %h, because %h follows from the input.
  // EVERY:         func.func private @weight(%[[X:.+]]: {{.+}} {dtc.value = 0 : i64}, %[[R:.+]]: {{.+}} {dtc.value = 92 : i64}, %[[W3:.+]]: {{.+}} {dtc.value = 3 : i64}, %[[W1:.+]]: {{.+}} {dtc.value = 1 : i64}) ->
  // EVERY-NEXT:      dtc.tanh %[[R]]
  // EVERY:           %[[H:.+]] = dtc.matmul %[[X]], %[[W1]]
  // EVERY-NEXT:      dtc.tanh %[[H]]

  // SELECTIVE:     func.func private @weight(%[[X:.+]]: {{.+}} {dtc.value = 0 : i64}, %[[N:.+]]: {{.+}} {dtc.value = 10 : i64}, %[[T:.+]]: {{.+}} {dtc.value = 11 : i64}, %[[Y:.+]]: {{.+}} {dtc.value = 92 : i64}) ->
  // SELECTIVE-NEXT:  %[[MASK:.+]] = dtc.neg %[[X]]
  // SELECTIVE-NEXT:  %[[U:.+]] = dtc.mul %[[Y]], %[[MASK]]
  // SELECTIVE-NEXT:  dtc.sub %[[U]], %[[MASK]]
  // SELECTIVE-NEXT:  dtc.matmul %[[T]]
  // SELECTIVE-NEXT:  dtc.matmul %[[N]]

  // PATTERN:       func.func private @weight(%[[X:.+]]: {{.+}} {dtc.value = 0 : i64}, %[[T:.+]]: {{.+}} {dtc.value = 11 : i64}, %[[U:.+]]: {{.+}} {dtc.value = 12 : i64}, %[[MASK:.+]]: {{.+}} {dtc.value = 13 : i64}, %[[H:.+]]: {{.+}} {dtc.value = 92 : i64}) ->
  // PATTERN-NEXT:    dtc.sub %[[U]], %[[MASK]]
  // PATTERN-NEXT:    dtc.matmul %[[T]]
  // PATTERN-NEXT:    dtc.tanh %[[H]]
  func.func private @weight(%x: !t {dtc.value = 0}, %n: !t {dtc.value = 10}, %t: !t {dtc.value = 11}, %u: !t {dtc.value = 12}, %mask: !t {dtc.value = 13})
      -> (!t {dtc.value = 90}, !t {dtc.value = 91}) attributes {dtc.phase = #dtc.phase<weight>} {
    %du = dtc.sub %u, %mask : (!t, !t) -> !t
    %dt = dtc.matmul %t, %du : (!t, !t) -> !t
    %dn = dtc.matmul %n, %dt : (!t, !t) -> !t
    %dx = dtc.matmul %x, %dn : (!t, !t) -> !t
    return %dn, %dx : !t, !t
  }
  func.func private @plan(!t {dtc.input = "x", dtc.value = 0}, !t {dtc.parameter = "w1", dtc.value = 1}, !t {dtc.parameter = "w2", dtc.value = 2}, !t {dtc.parameter = "w3", dtc.value = 3})
      -> (!t {dtc.value = 90}, !t {dtc.value = 91})
}

// A received value, %a, is kept and crosses like any activation: there is no
// cut. A sent value, %z, is kept. @backward returns its recomputed values to
// @weight, which computes only the others. `all` repeats the communication;
// `selective` does not, nor does it recompute values that follow from it.
module @stage1 attributes {dtc.stage = 1 : i64} {
  // CHECK-LABEL: module @stage1
  // CHECK:         func.func private @forward(
  // NONE-SAME:       -> ({{.*}} {dtc.value = 25 : i64}, {{.*}} {dtc.value = 26 : i64}, {{.*}} {dtc.value = 27 : i64}) attributes
  // ALL-SAME:        -> (tensor<{{[^{]*}} {dtc.value = 27 : i64}) attributes
  // SELECTIVE-SAME:  -> ({{[^{]*}} {dtc.value = 25 : i64}, {{[^{]*}} {dtc.value = 27 : i64}) attributes
  func.func private @forward(%a: !t {dtc.value = 20}, %w: !t {dtc.value = 21}) -> (!t {dtc.value = 25}, !t {dtc.value = 26}, !t {dtc.value = 27}) attributes {dtc.phase = #dtc.phase<forward>} {
    %h = dtc.matmul %a, %w : (!t, !t) -> !t
    %part = dtc.as_partial %h over ["tp"] : !t -> !p
    %s = dtc.all_reduce sum %part over ["tp"] : (!p) -> !t
    %n = dtc.tanh %s : (!t) -> !t
    %square = dtc.mul %n, %n : (!t, !t) -> !t
    %y = dtc.matmul %square, %w : (!t, !t) -> !t
    %z = dtc.add %y, %a : (!t, !t) -> !t
    return %n, %square, %z : !t, !t, !t
  }

  // ALL:           func.func private @backward(%[[Z:.+]]: {{.+}} {dtc.value = 27 : i64}, %[[A:.+]]: {{.+}} {dtc.value = 20 : i64}, %[[W:.+]]: {{.+}} {dtc.value = 21 : i64})
  // ALL-SAME:        -> ({{[^{]*}} {dtc.value = 28 : i64}, {{[^{]*}} {dtc.value = 25 : i64}) attributes
  // ALL-NEXT:        %[[H:.+]] = dtc.matmul %[[A]], %[[W]]
  // ALL-NEXT:        %[[PART:.+]] = dtc.as_partial %[[H]]
  // ALL-NEXT:        %[[S:.+]] = dtc.all_reduce sum %[[PART]] over ["tp"]
  // ALL-NEXT:        %[[N:.+]] = dtc.tanh %[[S]]
  // ALL-NEXT:        %[[D:.+]] = dtc.mul %[[N]], %[[Z]]
  // ALL-NEXT:        return %[[D]], %[[N]]
  // SELECTIVE:     func.func private @backward(
  // SELECTIVE-SAME:  {dtc.value = 25 : i64}, {{.*}} {dtc.value = 27 : i64})
  // SELECTIVE-NEXT:  dtc.mul
  // SELECTIVE-NEXT:  return
  func.func private @backward(%n: !t {dtc.value = 25}, %z: !t {dtc.value = 27}) -> (!t {dtc.value = 28}) attributes {dtc.phase = #dtc.phase<backward>} {
    %d = dtc.mul %n, %z : (!t, !t) -> !t
    return %d : !t
  }

  // ALL:           func.func private @weight(%[[D:.+]]: {{.+}} {dtc.value = 28 : i64}, %[[N:.+]]: {{.+}} {dtc.value = 25 : i64}) ->
  // ALL-NEXT:        %[[SQUARE:.+]] = dtc.mul %[[N]], %[[N]]
  // ALL-NEXT:        dtc.add %[[SQUARE]], %[[N]]
  // SELECTIVE:     func.func private @weight(%[[N:.+]]: {{.+}} {dtc.value = 25 : i64}, %[[D:.+]]: {{.+}} {dtc.value = 28 : i64}) ->
  // SELECTIVE-NEXT:  %[[SQUARE:.+]] = dtc.mul %[[N]], %[[N]]
  // SELECTIVE-NEXT:  dtc.add %[[SQUARE]], %[[N]]
  func.func private @weight(%n: !t {dtc.value = 25}, %square: !t {dtc.value = 26}, %d: !t {dtc.value = 28}) -> (!t {dtc.value = 29}) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.add %square, %n : (!t, !t) -> !t
    %1 = dtc.mul %0, %d : (!t, !t) -> !t
    return %1 : !t
  }
  func.func private @plan(!t {dtc.parameter = "w", dtc.value = 21}) -> (!t {dtc.value = 29}) attributes {
    dtc.recvs = [{value = 20, stage = 0, channel = 0, phase = #dtc.phase<forward>, type = !t}],
    dtc.sends = [{value = 27, stage = 2, channel = 1, phase = #dtc.phase<forward>, type = !t}]}
}
// A view of what is made again moves to where it is read, and the clones with
// it. %h and %r are cuts: `selective` keeps %a, though it follows from %m, which
// is saved, and %h.
module @stage2 attributes {dtc.stage = 2 : i64} {
  // CHECK-LABEL: module @stage2
  // SELECTIVE:     func.func private @forward(
  // SELECTIVE-SAME:  -> ({{[^{]*}} {dtc.value = 32 : i64}, {{[^{]*}} {dtc.value = 33 : i64}, {{[^{]*}} {dtc.value = 35 : i64}) attributes
  func.func private @forward(%x: !t {dtc.value = 30}, %w: !t {dtc.value = 31}) -> (!t {dtc.value = 32}, !t {dtc.value = 33}, !t {dtc.value = 35}) attributes {dtc.phase = #dtc.phase<forward>} {
    %h = dtc.matmul %x, %w : (!t, !t) -> !t
    %m = dtc.matmul %h, %w : (!t, !t) -> !t
    %r = dtc.add %m, %h : (!t, !t) -> !t
    %a = dtc.relu %r : (!t) -> !t
    %n = dtc.matmul %a, %w : (!t, !t) -> !t
    return %m, %a, %h : !t, !t, !t
  }

  // ALL:           func.func private @weight(
  // ALL-NEXT:        %[[M:.+]] = dtc.matmul
  // ALL-NEXT:        %[[D:.+]] = dtc.matmul %[[M]]
  // ALL-NEXT:        %[[A:.+]] = dtc.relu
  // ALL-NEXT:        %[[V:.+]] = dtc.reshape %[[A]]
  // ALL-NEXT:        dtc.matmul %[[V]], %[[D]]
  func.func private @weight(%m: !t {dtc.value = 32}, %a: !t {dtc.value = 33}, %h: !t {dtc.value = 35}) -> (!t {dtc.value = 34}) attributes {dtc.phase = #dtc.phase<weight>} {
    %v = dtc.reshape %a : (!t) -> !t
    %d = dtc.matmul %m, %h : (!t, !t) -> !t
    %0 = dtc.matmul %v, %d : (!t, !t) -> !t
    return %0 : !t
  }
  func.func private @plan(!t {dtc.input = "x", dtc.value = 30}, !t {dtc.parameter = "w", dtc.value = 31}) -> (!t {dtc.value = 34})
}
// If two values follow from one, the pass keeps that one, the nearest to them.
// The pass also replaces a value that nothing here reads by its source.
module @stage3 attributes {dtc.stage = 3 : i64} {
  // CHECK-LABEL: module @stage3
  // SELECTIVE:     func.func private @forward(
  // SELECTIVE-SAME:  -> ({{[^{]*}} {dtc.value = 46 : i64}, {{[^{]*}} {dtc.value = 47 : i64}) attributes
  // SELECTIVE-NEXT:  %[[H:.+]] = dtc.matmul
  // SELECTIVE-NEXT:  %[[S:.+]] = dtc.add %[[H]]
  // SELECTIVE-NEXT:  dtc.neg %[[S]]
  // SELECTIVE-NEXT:  %[[G:.+]] = dtc.matmul
  // SELECTIVE-NEXT:  return %[[S]], %[[G]]
  func.func private @forward(%x: !t {dtc.value = 40}, %w: !t {dtc.value = 41}) -> (!t {dtc.value = 42}, !t {dtc.value = 43}, !t {dtc.value = 44}) attributes {dtc.phase = #dtc.phase<forward>} {
    %h = dtc.matmul %x, %w : (!t, !t) -> !t
    %s = dtc.add %h, %w : (!t, !t) -> !t
    %a = dtc.tanh %s : (!t) -> !t
    %b = dtc.neg %s : (!t) -> !t
    %g = dtc.matmul %b, %w : (!t, !t) -> !t
    %c = dtc.tanh %g : (!t) -> !t
    return %a, %b, %c : !t, !t, !t
  }

  // SELECTIVE:     func.func private @weight(%[[S:.+]]: {{.+}} {dtc.value = 46 : i64}, %[[G:.+]]: {{.+}} {dtc.value = 47 : i64}) ->
  // SELECTIVE-NEXT:  %[[A:.+]] = dtc.tanh %[[S]]
  // SELECTIVE-NEXT:  %[[B:.+]] = dtc.neg %[[S]]
  // SELECTIVE-NEXT:  %[[AB:.+]] = dtc.mul %[[A]], %[[B]]
  // SELECTIVE-NEXT:  %[[C:.+]] = dtc.tanh %[[G]]
  // SELECTIVE-NEXT:  dtc.mul %[[AB]], %[[C]]
  func.func private @weight(%a: !t {dtc.value = 42}, %b: !t {dtc.value = 43}, %c: !t {dtc.value = 44}) -> (!t {dtc.value = 45}) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.mul %a, %b : (!t, !t) -> !t
    %1 = dtc.mul %0, %c : (!t, !t) -> !t
    return %1 : !t
  }
  func.func private @plan(!t {dtc.input = "x", dtc.value = 40}, !t {dtc.parameter = "w", dtc.value = 41}) -> (!t {dtc.value = 45})
}

// Not in place of %s, since %x, which stage 3 has sent, would wait, too; nor of
// %c, which would be made for a product, and is no kernel's.
module @stage4 attributes {dtc.stage = 4 : i64} {
  // CHECK-LABEL: module @stage4
  // SELECTIVE:     func.func private @forward(
  // SELECTIVE-SAME:  -> ({{[^{]*}} {dtc.value = 52 : i64}, {{[^{]*}} {dtc.value = 53 : i64}) attributes
  func.func private @forward(%x: !t {dtc.value = 50}, %w: !t {dtc.value = 51}) -> (!t {dtc.value = 52}, !t {dtc.value = 53}) attributes {dtc.phase = #dtc.phase<forward>} {
    %y = dtc.matmul %x, %w : (!t, !t) -> !t
    %s = dtc.add %x, %y : (!t, !t) -> !t
    %g = dtc.matmul %y, %w : (!t, !t) -> !t
    %c = dtc.tanh %g : (!t) -> !t
    return %s, %c : !t, !t
  }

  func.func private @weight(%s: !t {dtc.value = 52}, %c: !t {dtc.value = 53}, %w: !t {dtc.value = 51}) -> (!t {dtc.value = 54}) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.tanh %s : (!t) -> !t
    %1 = dtc.matmul %c, %0 : (!t, !t) -> !t
    return %1 : !t
  }
  func.func private @plan(!t {dtc.parameter = "w", dtc.value = 51}) -> (!t {dtc.value = 54}) attributes {dtc.recvs = [{value = 50, stage = 3, channel = 0, phase = #dtc.phase<forward>, type = !t}]}
}
}
