// RUN: dtc-opt %s --dtc-insert-collectives=reduce-dtype=bf16 | FileCheck %s
// RUN: dtc-opt %s --dtc-insert-collectives | FileCheck %s --check-prefix=SAME
// RUN: not dtc-opt %s --dtc-insert-collectives=reduce-dtype=f16 2>&1 | FileCheck %s --check-prefix=TYPE

#mesh = #dtc.mesh<dp=2, mb=4>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial, mb: partial>
#pm = #dtc.layout<#mesh, mb: partial>
#d = #dtc.layout<#mesh, dp: split(0)>
#dm = #dtc.layout<#mesh, dp: split(0), mb: partial>

// Gradients are accumulated in f32, reduced in bf16, and f32 for the optimizer.
// Other sums, such as statistics, keep their type. If a gradient is scattered
// for each micro-batch, the accumulated shard is f32 again.

// SAME-NOT: dtc.cast
// TYPE: error: --reduce-dtype is 'f16', expected fp32, bf16 or fp16
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<8xf32, #p>, %y: tensor<8xf32, #p>, %z: tensor<8xf32, #p>)
    -> (tensor<8xf32, #r> {dtc.parameter = "statistic"}, tensor<8xf32, #r> {dtc.gradient = "a"}, tensor<8xf32, #d> {dtc.gradient = "b"}) {
  // CHECK: %[[SX:.*]] = dtc.sum_microbatches %arg0
  // CHECK-NEXT: %[[X:.*]] = dtc.all_reduce sum %[[SX]] over ["dp"] : (tensor<8xf32
  %0 = dtc.reshard %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  // CHECK-NEXT: %[[SY:.*]] = dtc.sum_microbatches %arg1
  // CHECK-NEXT: %[[NY:.*]] = dtc.cast %[[SY]] : (tensor<8xf32, #partial_dp>) -> tensor<8xbf16, #partial_dp>
  // CHECK-NEXT: %[[RY:.*]] = dtc.all_reduce sum %[[NY]] over ["dp"]
  // CHECK-NEXT: %[[Y:.*]] = dtc.cast %[[RY]] : (tensor<8xbf16, #replicated>) -> tensor<8xf32, #replicated>
  %1 = dtc.reshard %y : tensor<8xf32, #p> -> tensor<8xf32, #r>
  // CHECK-NEXT: %[[NZ:.*]] = dtc.cast %arg2 {dtc.per_microbatch} : {{.*}} -> tensor<8xbf16
  // CHECK-NEXT: %[[RZ:.*]] = dtc.reduce_scatter sum %[[NZ]] over ["dp"] dim 0 {dtc.per_microbatch}
  // CHECK-NEXT: %[[WZ:.*]] = dtc.cast %[[RZ]] {dtc.per_microbatch} : {{.*}} -> tensor<8xf32
  // CHECK-NEXT: %[[Z:.*]] = dtc.sum_microbatches %[[WZ]]
  %2 = dtc.reshard %z {dtc.per_microbatch} : tensor<8xf32, #p> -> tensor<8xf32, #dm>
  %3 = dtc.reshard %2 : tensor<8xf32, #dm> -> tensor<8xf32, #d>
  // CHECK-NEXT: return %[[X]], %[[Y]], %[[Z]]
  return %0, %1, %3 : tensor<8xf32, #r>, tensor<8xf32, #r>, tensor<8xf32, #d>
}
