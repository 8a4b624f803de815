// RUN: dtc-opt %s --dtc-insert-collectives --split-input-file --verify-diagnostics | FileCheck %s

#mesh = #dtc.mesh<dp=2, tp=2, mb=4>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial, tp: partial, mb: partial>
#d = #dtc.layout<#mesh, dp: split(0)>
#t = #dtc.layout<#mesh, tp: split(0)>
#pd = #dtc.layout<#mesh, dp: partial>

// Accumulation over time, then one reduction over the product of the axes.
// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<8xf32, #p>) -> tensor<8xf32, #r> {
  // CHECK: %[[A:.*]] = dtc.sum_microbatches %{{.*}}
  // CHECK: %[[B:.*]] = dtc.all_reduce sum %[[A]] over ["dp", "tp"]
  // CHECK: return %[[B]]
  %0 = dtc.reshard %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}

// CHECK-LABEL: func @scatter
func.func @scatter(%x: tensor<8xf32, #pd>) -> tensor<8xf32, #d> {
  // CHECK: dtc.reduce_scatter sum %{{.*}} over ["dp"] dim 0
  %0 = dtc.reshard %x : tensor<8xf32, #pd> -> tensor<8xf32, #d>
  return %0 : tensor<8xf32, #d>
}

// CHECK-LABEL: func @move
func.func @move(%x: tensor<8xf32, #d>) -> tensor<8xf32, #t> {
  // CHECK: %[[A:.*]] = dtc.all_gather %{{.*}} over ["dp"] dim 0
  // CHECK: dtc.local_slice %[[A]] over ["tp"] dim 0
  %0 = dtc.reshard %x : tensor<8xf32, #d> -> tensor<8xf32, #t>
  return %0 : tensor<8xf32, #t>
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
func.func @time(%x: tensor<8xf32, #b>) -> tensor<8xf32, #r> {
  // expected-error@+1 {{needs all samples of a batch at once, in dimension 0 of a 8 value, but runs on one micro-batch at a time; use one micro-batch, or export a model that treats samples apart}}
  %0 = dtc.reshard %x : tensor<8xf32, #b> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}
