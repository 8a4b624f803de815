// RUN: dtc-opt %s --dtc-split-stages | FileCheck %s

// A sum over micro-batches that the forward pass reads, and whose parts are
// read in each micro-batch: one phase adds it up, another makes the parts again.

#mesh = #dtc.mesh<pp=1, dp=1, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"}, %w: tensor<1x4xf32, #r> {dtc.parameter = "w"})
    -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<1x4xf32, #r> {dtc.gradient = "w"}) {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
  %1 = dtc.sum_microbatches %0 : tensor<1x4xf32, #p> -> tensor<1x4xf32, #r>
  %2 = dtc.mul %1, %w : (tensor<1x4xf32, #r>, tensor<1x4xf32, #r>) -> tensor<1x4xf32, #r>
  %3 = dtc.mul %x, %2 : (tensor<8x4xf32, #b>, tensor<1x4xf32, #r>) -> tensor<8x4xf32, #b>
  %4 = dtc.sum_squares %3 : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
  %5 = dtc.sum_over_stages %4 : (tensor<f64, #p>) -> tensor<f64, #p>
  %loss = dtc.sum_microbatches %5 : tensor<f64, #p> -> tensor<f64, #r>
  %6 = dtc.neg %0 {dtc.per_microbatch} : (tensor<1x4xf32, #p>) -> tensor<1x4xf32, #p>
  %gradient = dtc.sum_microbatches %6 : tensor<1x4xf32, #p> -> tensor<1x4xf32, #r>
  return %loss, %gradient : tensor<f64, #r>, tensor<1x4xf32, #r>
}

// CHECK:      func.func private @inputs(
// CHECK-NEXT:   %[[SUM:.*]] = dtc.reduce_sum
// CHECK-NEXT:   %[[ALL:.*]] = dtc.accumulate %[[SUM]]
// CHECK-NEXT:   return %[[ALL]] :
// CHECK:      func.func private @forward(
// CHECK-NOT:    dtc.reduce_sum
// CHECK:      func.func private @weight(
// CHECK-NEXT:   %[[PART:.*]] = dtc.reduce_sum
// CHECK-NEXT:   %[[NEGATED:.*]] = dtc.neg %[[PART]]
// CHECK-NEXT:   %[[GRADIENT:.*]] = dtc.accumulate %[[NEGATED]]
// CHECK-NEXT:   return %[[GRADIENT]] :
