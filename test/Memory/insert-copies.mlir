// RUN: dtc-opt %s --dtc-insert-copies | FileCheck %s
// RUN: dtc-opt %s --dtc-insert-copies --dtc-plan-memory --dtc-verify=invariant=memory

#mesh = #dtc.mesh<dp=2>
#p = #dtc.layout<#mesh, dp: partial(sum)>
#r = #dtc.layout<#mesh>

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // One value is reduced under two shapes.
  // CHECK-LABEL: func.func private @reduced_twice
  // CHECK: %[[V:.*]] = dtc.reshape
  // CHECK-NEXT: %[[C:.*]] = dtc.copy %[[V]] : tensor<8xf32, #{{.*}}>
  // CHECK-NEXT: dtc.all_reduce sum %{{.*}} over ["dp"] : (tensor<1x8xf32
  // CHECK-NEXT: dtc.all_reduce sum %[[C]] over ["dp"] : (tensor<8xf32
  func.func private @reduced_twice(%x: tensor<1x8xf32, #p> {dtc.update = 0 : i64}) -> (tensor<1x8xf32, #r>, tensor<8xf32, #r>) {
    %0 = dtc.reshape %x : (tensor<1x8xf32, #p>) -> tensor<8xf32, #p>
    %1 = dtc.all_reduce sum %x over ["dp"] : (tensor<1x8xf32, #p>) -> tensor<1x8xf32, #r>
    %2 = dtc.all_reduce sum %0 over ["dp"] : (tensor<8xf32, #p>) -> tensor<8xf32, #r>
    return %1, %2 : tensor<1x8xf32, #r>, tensor<8xf32, #r>
  }

  // By one op. The argument becomes the result that is reduced in its place.
  // CHECK-LABEL: func.func private @bucket
  // CHECK-SAME: {dtc.update = 0 : i64}
  // CHECK: %[[V:.*]] = dtc.reshape
  // CHECK-NEXT: %[[C:.*]] = dtc.copy %[[V]]
  // CHECK-NEXT: dtc.all_reduce sum %{{.*}}, %[[C]] over
  func.func private @bucket(%x: tensor<1x8xf32, #p> {dtc.update = 1 : i64}) -> (tensor<1x8xf32, #r>, tensor<8xf32, #r>) {
    %0 = dtc.reshape %x : (tensor<1x8xf32, #p>) -> tensor<8xf32, #p>
    %1:2 = dtc.all_reduce sum %x, %0 over ["dp"] : (tensor<1x8xf32, #p>, tensor<8xf32, #p>) -> (tensor<1x8xf32, #r>, tensor<8xf32, #r>)
    return %1#0, %1#1 : tensor<1x8xf32, #r>, tensor<8xf32, #r>
  }

  // A value that is needed before, or is the new value, needs no copy.
  // CHECK-LABEL: func.func private @in_order
  // CHECK-NOT: dtc.copy
  // CHECK: return
  func.func private @in_order(%x: tensor<4xf32, #r>, %a: tensor<4xf32, #r> {dtc.update = 0 : i64}) -> (tensor<4xf32, #r>, tensor<4xf32, #r>) {
    %0 = dtc.relu %a : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %1 = dtc.accumulate %x into %a : tensor<4xf32, #r>
    %2 = dtc.reshape %1 : (tensor<4xf32, #r>) -> tensor<4x1xf32, #r>
    %3 = dtc.reshape %2 : (tensor<4x1xf32, #r>) -> tensor<4xf32, #r>
    %4 = dtc.accumulate %0 into %3 : tensor<4xf32, #r>
    return %4, %0 : tensor<4xf32, #r>, tensor<4xf32, #r>
  }

  // A constant stays what it is.
  // CHECK-LABEL: func.func private @constant
  // CHECK: %[[K:.*]] = dtc.constant
  // CHECK: %[[C:.*]] = dtc.copy %[[K]]
  // CHECK: dtc.accumulate %{{.*}} into %[[C]]
  func.func private @constant(%x: tensor<4xf32, #r>) -> tensor<4xf32, #r> {
    %0 = dtc.constant dense<1.0> : tensor<4xf32> to tensor<4xf32, #r>
    %1 = dtc.accumulate %x into %0 : tensor<4xf32, #r>
    return %1 : tensor<4xf32, #r>
  }

  // A run overwrites what a later run needs, and the plan returns.
  // CHECK-LABEL: func.func @plan
  // CHECK: %[[Z:.*]] = dtc.zero
  // CHECK-NEXT: %[[C:.*]] = dtc.copy %[[Z]] : tensor<1x8xf32, #{{.*}}>
  // CHECK: dtc.run @reduced_twice(%[[Z]])
  // CHECK: %[[R:.*]]:2 = dtc.run @reduced_twice(%[[C]])
  // CHECK: return %[[R]]#0
  func.func @plan() -> tensor<1x8xf32, #r> {
    %0 = dtc.zero : tensor<1x8xf32, #p>
    %1:2 = dtc.run @reduced_twice(%0) : (tensor<1x8xf32, #p>) -> (tensor<1x8xf32, #r>, tensor<8xf32, #r>)
    %2:2 = dtc.run @reduced_twice(%0) : (tensor<1x8xf32, #p>) -> (tensor<1x8xf32, #r>, tensor<8xf32, #r>)
    return %2#0 : tensor<1x8xf32, #r>
  }
}
}
