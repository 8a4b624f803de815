// RUN: dtc-opt %s --dtc-recompute=policy=selective | FileCheck %s

// Selective recompute adds no communication. It recomputes values of %w, which
// the backward pass gathers for its product. It keeps values of %b, which the
// backward pass does not gather (15). A gather may be of another type. On the
// next stage @weight would gather %w only for %q, so the pass keeps that value,
// too.

#mesh = #dtc.mesh<pp=2, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
!x = tensor<4x4xbf16, #r>
!w = tensor<4x4xbf16, #r>
!p = tensor<4x4xf32, #d>
!g = tensor<4x4xbf16, #d>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // CHECK:       func.func private @forward(
  // CHECK-SAME:    -> ({{[^{]*}} {dtc.value = 13 : i64}, {{[^{]*}} {dtc.value = 15 : i64}) attributes
  func.func private @forward(%x: !x {dtc.value = 0}, %w: !p {dtc.gathered_at_use, dtc.value = 1}, %b: !p {dtc.gathered_at_use, dtc.value = 2})
      -> (!x {dtc.value = 13}, !x {dtc.value = 14}, !x {dtc.value = 15}) attributes {dtc.phase = #dtc.phase<forward>} {
    %wc = dtc.cast %w : (!p) -> !g
    %ww = dtc.all_gather %wc over ["dp"] dim 0 : (!g) -> !w
    %h = dtc.matmul %x, %ww : (!x, !w) -> !x
    %q = dtc.mul %h, %ww : (!x, !w) -> !x
    %bc = dtc.cast %b : (!p) -> !g
    %bw = dtc.all_gather %bc over ["dp"] dim 0 : (!g) -> !w
    %a = dtc.mul %h, %bw : (!x, !w) -> !x
    return %h, %q, %a : !x, !x, !x
  }

  // CHECK:       func.func private @weight(
  // CHECK:         %[[CAST:.*]] = dtc.cast
  // CHECK-NEXT:    %[[W:.*]] = dtc.all_gather %[[CAST]]
  // CHECK-NOT:     dtc.all_gather
  // CHECK:         dtc.mul %{{.*}}, %[[W]]
  // CHECK-NOT:     dtc.all_gather
  // CHECK:         return
  func.func private @weight(%w: !p {dtc.gathered_at_use, dtc.value = 1}, %h: !x {dtc.value = 13}, %q: !x {dtc.value = 14}, %a: !x {dtc.value = 15}) -> (!x {dtc.value = 16}) attributes {dtc.phase = #dtc.phase<weight>} {
    %wc = dtc.cast %w : (!p) -> !g
    %ww = dtc.all_gather %wc over ["dp"] dim 0 : (!g) -> !w
    %0 = dtc.matmul %h, %ww {transpose_rhs} : (!x, !w) -> !x
    %1 = dtc.mul %0, %q : (!x, !x) -> !x
    %2 = dtc.mul %1, %a : (!x, !x) -> !x
    return %2 : !x
  }
  func.func private @plan(!x {dtc.input = "x", dtc.value = 0}, !p {dtc.parameter = "w", dtc.value = 1}, !p {dtc.parameter = "b", dtc.value = 2}) -> (!x {dtc.value = 16})
}
module @stage1 attributes {dtc.stage = 1 : i64} {
  // CHECK:       module @stage1
  // CHECK:       func.func private @forward(
  // CHECK-SAME:    -> ({{[^{]*}} {dtc.value = 13 : i64}, {{[^{]*}} {dtc.value = 14 : i64}, {{[^{]*}} {dtc.value = 15 : i64}) attributes
  func.func private @forward(%x: !x {dtc.value = 0}, %w: !p {dtc.gathered_at_use, dtc.value = 1}, %b: !p {dtc.gathered_at_use, dtc.value = 2})
      -> (!x {dtc.value = 13}, !x {dtc.value = 14}, !x {dtc.value = 15}) attributes {dtc.phase = #dtc.phase<forward>} {
    %wc = dtc.cast %w : (!p) -> !g
    %ww = dtc.all_gather %wc over ["dp"] dim 0 : (!g) -> !w
    %h = dtc.matmul %x, %ww : (!x, !w) -> !x
    %q = dtc.mul %h, %ww : (!x, !w) -> !x
    %bc = dtc.cast %b : (!p) -> !g
    %bw = dtc.all_gather %bc over ["dp"] dim 0 : (!g) -> !w
    %a = dtc.mul %h, %bw : (!x, !w) -> !x
    return %h, %q, %a : !x, !x, !x
  }
  func.func private @backward(%w: !p {dtc.gathered_at_use, dtc.value = 1}, %h: !x {dtc.value = 13}) -> (!x {dtc.value = 17}) attributes {dtc.phase = #dtc.phase<backward>} {
    %wc = dtc.cast %w : (!p) -> !g
    %ww = dtc.all_gather %wc over ["dp"] dim 0 : (!g) -> !w
    %0 = dtc.matmul %h, %ww {transpose_rhs} : (!x, !w) -> !x
    return %0 : !x
  }
  // CHECK:       func.func private @weight(
  // CHECK-NOT:     dtc.all_gather
  // CHECK:         return
  func.func private @weight(%d: !x {dtc.value = 17}, %q: !x {dtc.value = 14}, %a: !x {dtc.value = 15}) -> (!x {dtc.value = 16}) attributes {dtc.phase = #dtc.phase<weight>} {
    %1 = dtc.mul %d, %q : (!x, !x) -> !x
    %2 = dtc.mul %1, %a : (!x, !x) -> !x
    return %2 : !x
  }
  func.func private @plan(!x {dtc.input = "x", dtc.value = 0}, !p {dtc.parameter = "w", dtc.value = 1}, !p {dtc.parameter = "b", dtc.value = 2}) -> (!x {dtc.value = 16})
}
}
