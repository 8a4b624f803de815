// RUN: dtc-opt %s --dtc-overlap-collectives --split-input-file | FileCheck %s

// What a last run reduces starts there and is waited for in the plan, each where
// it is needed. The bucket that is read meanwhile must be the plan's.

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
      -> (tensor<4xf32, #r>, tensor<8xf32, #s>) {
    %0 = dtc.launch @kernels::@concat(%b, %b) : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> tensor<8xf32, #p>
    %1 = dtc.reduce_scatter sum %0 over ["dp"] dim 0 : (tensor<8xf32, #p>) -> tensor<8xf32, #s>
    %2 = dtc.all_reduce sum %a over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    return %2, %1 : tensor<4xf32, #r>, tensor<8xf32, #s>
  }
  func.func private @reduce(%g: tensor<4xf32, #r>) -> tensor<4xf32, #r> {
    %0 = dtc.add %g, %g : (tensor<4xf32, #r>, tensor<4xf32, #r>) -> tensor<4xf32, #r>
    return %0 : tensor<4xf32, #r>
  }
  func.func private @update(%g: tensor<8xf32, #s>) -> tensor<8xf32, #s> {
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
// CHECK-NEXT:      %[[S:.*]] = dtc.reduce_scatter sum %[[B]] over ["dp"] dim 0 {dtc.slot = 4098 : i64}
// CHECK-NEXT:      %[[R:.*]] = dtc.all_reduce sum %[[A]] over ["dp"] {dtc.slot = 4099 : i64}
// CHECK-NEXT:      return %[[R]], %[[S]], %[[B]]
// CHECK:         @plan
// CHECK-NEXT:      %[[W:.*]]:3 = dtc.run @weight.last
// CHECK-NEXT:      dtc.wait %[[W]]#0 slot 4099
// CHECK-NEXT:      dtc.run @reduce(%[[W]]#0)
// CHECK-NEXT:      dtc.wait %[[W]]#1 slot 4098
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
                            %b: tensor<4xf32, #s> {dtc.update = 1 : i64}) -> (tensor<4xf32, #s>, tensor<4xf32, #s>) {
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
// CHECK-NEXT:      %[[S:.*]] = dtc.reduce_scatter {{.*}} {dtc.slot = 4097 : i64}
// CHECK-NEXT:      %[[Y:.*]] = dtc.launch @kernels::@mul
// CHECK-NEXT:      dtc.wait %[[S]] slot 4097
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
  func.func private @weight(%x: tensor<4xf32, #p>) -> (tensor<4xf32, #s>, tensor<4xf32, #s>) {
    %0 = dtc.reduce_scatter sum %x over ["dp"] dim 0 : (tensor<4xf32, #p>) -> tensor<4xf32, #s>
    %1 = dtc.launch @kernels::@mul(%0) : (tensor<4xf32, #s>) -> tensor<4xf32, #s>
    %2 = dtc.launch @kernels::@mul(%1) : (tensor<4xf32, #s>) -> tensor<4xf32, #s>
    return %1, %2 : tensor<4xf32, #s>, tensor<4xf32, #s>
  }
  func.func private @weight.last(%x: tensor<4x4xf32, #p>) -> tensor<4x4xf32, #c> {
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
      -> (tensor<4xf32, #s>, tensor<4xf32, #r>, tensor<4xf32, #r>) {
    %0 = dtc.all_gather %x over ["dp"] dim 0 : (tensor<4xf32, #s>) -> tensor<4xf32, #r>
    %1 = dtc.launch @kernels::@mul(%e) : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %2 = dtc.launch @kernels::@accumulate(%d, %x) : (tensor<4xf32, #s>, tensor<4xf32, #s>) -> tensor<4xf32, #s>
    return %2, %0, %1 : tensor<4xf32, #s>, tensor<4xf32, #r>, tensor<4xf32, #r>
  }
  func.func private @weight.last(%a: tensor<4xf32, #p> {dtc.update = 0 : i64}) -> tensor<4xf32, #r> {
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
// CHECK-NEXT:      %[[G:.*]] = dtc.all_gather {{.*}} {dtc.slot = 4097 : i64}
// CHECK-NEXT:      dtc.launch @kernels::@mul
// CHECK-NEXT:      dtc.wait %[[G]] slot 4097
// CHECK-NEXT:      dtc.launch @kernels::@accumulate
// CHECK:         @plan
// CHECK-NEXT:      %[[W:.*]] = dtc.run @weight.last
// CHECK-NEXT:      dtc.wait %[[W]] slot 4098
// CHECK-NEXT:      return
