// RUN: dtc-opt %s --dtc-split-stages | FileCheck %s

// The sum of squares of what is centred reads the mean: all micro-batches have
// added to that before the first adds to this, and ranks have reduced it.

#mesh = #dtc.mesh<pp=1, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, dp: split(0), mb: split(0)>
#p = #dtc.layout<#mesh, dp: partial, mb: partial>
#dp = #dtc.layout<#mesh, dp: partial>
func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<4xf32, #r> {dtc.parameter = "w"}) -> (tensor<f64, #r> {dtc.output = "loss"}) {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
  %1 = dtc.sum_microbatches %0 : tensor<1x4xf32, #p> -> tensor<1x4xf32, #dp>
  %2 = dtc.all_reduce sum %1 over ["dp"] : (tensor<1x4xf32, #dp>) -> tensor<1x4xf32, #r>
  %eighth = dtc.constant dense<0.125> : tensor<f32> to tensor<f32, #r>
  %mean = dtc.mul %2, %eighth : (tensor<1x4xf32, #r>, tensor<f32, #r>) -> tensor<1x4xf32, #r>
  %centred = dtc.sub %x, %mean : (tensor<8x4xf32, #b>, tensor<1x4xf32, #r>) -> tensor<8x4xf32, #b>
  %3 = dtc.mul %centred, %centred : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
  %4 = dtc.reduce_sum %3 axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
  %5 = dtc.sum_microbatches %4 : tensor<1x4xf32, #p> -> tensor<1x4xf32, #dp>
  %6 = dtc.all_reduce sum %5 over ["dp"] : (tensor<1x4xf32, #dp>) -> tensor<1x4xf32, #r>
  %7 = dtc.div %centred, %6 : (tensor<8x4xf32, #b>, tensor<1x4xf32, #r>) -> tensor<8x4xf32, #b>
  %8 = dtc.mul %7, %w : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
  %9 = dtc.sum_squares %8 : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
  %10 = dtc.sum_over_stages %9 : (tensor<f64, #p>) -> tensor<f64, #p>
  %11 = dtc.sum_microbatches %10 : tensor<f64, #p> -> tensor<f64, #dp>
  %loss = dtc.all_reduce sum %11 over ["dp"] : (tensor<f64, #dp>) -> tensor<f64, #r>
  return %loss : tensor<f64, #r>
}

// CHECK:      func.func private @inputs(
// CHECK-NEXT:   %[[SUM:.*]] = dtc.reduce_sum
// CHECK-NEXT:   dtc.accumulate %[[SUM]]
// CHECK-NEXT:   return
// CHECK:      func.func private @prologue(
// CHECK-NEXT:   dtc.all_reduce
// CHECK-NEXT:   dtc.constant
// CHECK-NEXT:   dtc.mul
// CHECK-NEXT:   return
// This function computes the centred values again.
// CHECK:      func.func private @inputs1(
// CHECK-NEXT:   dtc.sub
// CHECK-NEXT:   dtc.mul
// CHECK-NEXT:   %[[SQUARES:.*]] = dtc.reduce_sum
// CHECK-NEXT:   dtc.accumulate %[[SQUARES]]
// CHECK-NEXT:   return
// CHECK:      func.func private @prologue1(
// CHECK-NEXT:   dtc.all_reduce
// CHECK-NEXT:   return
// CHECK:      func.func private @forward(
