// RUN: dtc-opt %s --dtc-form-kernels=join | FileCheck %s
// RUN: dtc-opt %s --dtc-form-kernels | FileCheck %s --check-prefix=APART

// Independent adjacent kernels become one, despite views between them. A kernel
// that needs the result of one, or overwrites an operand of one, comes later. A
// product separates kernels.

#mesh = #dtc.mesh<pp=1, dp=1>
#r = #dtc.layout<#mesh>

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // CHECK-LABEL: func.func private @update
  // CHECK: %[[VIEW:.*]] = dtc.reshape %arg1
  // CHECK-NEXT: %[[FIRST:.*]]:3 = dtc.launch @kernels::@kernel_cast_reduce_sum_neg(%arg0, %[[VIEW]], %arg2)
  // CHECK-NEXT: %[[SECOND:.*]]:2 = dtc.launch @kernels::@kernel_neg_accumulate(%[[FIRST]]#1, %arg3, %arg2)
  // CHECK-NEXT: %[[PRODUCT:.*]] = dtc.matmul
  // CHECK-NEXT: %[[LAST:.*]] = dtc.launch @kernels::@kernel_neg(%[[PRODUCT]])
  // CHECK-NEXT: return %[[FIRST]]#0, %[[SECOND]]#0, %[[FIRST]]#2, %[[SECOND]]#1, %[[LAST]]

  // APART-COUNT-6: dtc.launch
  // APART: return
  func.func private @update(%a: tensor<4x4xf32, #r>, %b: tensor<8xf32, #r>, %c: tensor<4x4xf32, #r> {dtc.update = 3 : i64}, %d: tensor<4x4xf32, #r>)
      -> (tensor<4x4xf64, #r>, tensor<1x1xf64, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>)
      attributes {dtc.phase = #dtc.phase<update>} {
    %0 = dtc.cast %a : (tensor<4x4xf32, #r>) -> tensor<4x4xf64, #r>
    %1 = dtc.reshape %b : (tensor<8xf32, #r>) -> tensor<2x4xf32, #r>
    %2 = dtc.cast %1 : (tensor<2x4xf32, #r>) -> tensor<2x4xf64, #r>
    %3 = dtc.neg %c : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %4 = dtc.reduce_sum %2 axes [0, 1] : (tensor<2x4xf64, #r>) -> tensor<1x1xf64, #r>
    %8 = dtc.neg %4 : (tensor<1x1xf64, #r>) -> tensor<1x1xf64, #r>
    %5 = dtc.accumulate %d into %c : tensor<4x4xf32, #r>
    %6 = dtc.matmul %d, %d : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %7 = dtc.neg %6 : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    return %0, %8, %3, %5, %7 : tensor<4x4xf64, #r>, tensor<1x1xf64, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>, tensor<4x4xf32, #r>
  }
}
}
