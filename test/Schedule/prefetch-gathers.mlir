// RUN: dtc-opt %s --dtc-prefetch-gathers | FileCheck %s

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
    // CHECK: %[[B:.*]] = dtc.all_gather %arg2 over ["dp"] dim 0 {dtc.slot = 4096 : i64}
    // CHECK: %[[X:.*]] = dtc.matmul %arg0, %[[AV]]
    // CHECK: dtc.wait %[[B]] slot 4096
    // CHECK: %[[C:.*]] = dtc.all_gather %arg3 over ["dp"] dim 0 {dtc.slot = 4096 : i64}
    // CHECK: %[[Y:.*]] = dtc.matmul %[[X]], %[[B]]
    // CHECK: %[[D:.*]] = dtc.all_gather %arg4 over ["dp"] dim 0 :
    // CHECK: dtc.wait %[[C]] slot 4096
    // CHECK: dtc.add %[[C]], %[[D]]
    // CHECK: dtc.all_gather %arg5 over ["dp"] dim 0 :
    func.func private @forward(%x: tensor<4x4xf32, #r>,
        %p: tensor<2x8xf32, #dp> {dtc.gathered_at_use}, %q: tensor<4x4xf32, #dp> {dtc.gathered_at_use},
        %s: tensor<4x4xf32, #dp> {dtc.gathered_at_use}, %t: tensor<4x4xf32, #dp> {dtc.gathered_at_use},
        %other: tensor<4x4xf32, #dp>) -> (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) {
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
    // CHECK: dtc.all_gather %arg3 over ["dp"] dim 0 {dtc.slot = 4096 : i64}
    // CHECK: dtc.matmul
    // CHECK: dtc.wait
    // CHECK: dtc.matmul
    // CHECK-NOT: dtc.wait
    func.func private @backward(%x: tensor<4x4xf32, #r>,
        %p: tensor<4x4xf32, #dp> {dtc.gathered_at_use}, %q: tensor<4x4xf32, #dp> {dtc.gathered_at_use},
        %s: tensor<4x4xf32, #dp> {dtc.gathered_at_use}) -> tensor<4x4xf32, #r> {
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
        %p: tensor<4x4xf32, #dp> {dtc.gathered_at_use}, %q: tensor<4x4xf32, #columns> {dtc.gathered_at_use}) -> tensor<4x4xf32, #r> {
      %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<4x4xf32, #dp>) -> tensor<4x4xf32, #r>
      %y = dtc.matmul %x, %a : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      %b = dtc.all_gather %q over ["dp"] dim 1 : (tensor<4x4xf32, #columns>) -> tensor<4x4xf32, #r>
      %z = dtc.matmul %y, %b : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
      return %z : tensor<4x4xf32, #r>
    }
    func.func private @plan()
  }
}
