// One case for each constraint of dtc.all_to_all.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

#mesh = #dtc.mesh<dp=2, tp=2>
#dt = #dtc.layout<#mesh, dp: split(0), tp: split(0)>
#t = #dtc.layout<#mesh, tp: split(0), dp: split(1)>

// C1
func.func @major(%x: tensor<8x8xf32, #dt>) -> tensor<8x8xf32, #t> {
  // expected-error @below {{operand has layout #dtc.layout<#dtc.mesh<dp=2, tp=2>, dp: split(0), tp: split(0)>, expected ["dp"] as the minor splits of dimension 0}}
  %0 = dtc.all_to_all %x over ["dp"] from 0 to 1 : (tensor<8x8xf32, #dt>) -> tensor<8x8xf32, #t>
  return %0 : tensor<8x8xf32, #t>
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2>
#d = #dtc.layout<#mesh, dp: split(0)>
#t = #dtc.layout<#mesh, tp: split(1)>

// C2
func.func @result(%x: tensor<8x8xf32, #d>) -> tensor<8x8xf32, #t> {
  // expected-error @below {{result has layout #dtc.layout<#dtc.mesh<dp=2, tp=2>, tp: split(1)>, expected #dtc.layout<#dtc.mesh<dp=2, tp=2>, dp: split(1)>}}
  %0 = dtc.all_to_all %x over ["dp"] from 0 to 1 : (tensor<8x8xf32, #d>) -> tensor<8x8xf32, #t>
  return %0 : tensor<8x8xf32, #t>
}

// -----

#mesh = #dtc.mesh<dp=2>
#d = #dtc.layout<#mesh, dp: split(0)>

// C2
func.func @same_dimension(%x: tensor<8x8xf32, #d>) -> tensor<8x8xf32, #d> {
  // expected-error @below {{splits dimension 0 instead of 0, expected another of 2}}
  %0 = dtc.all_to_all %x over ["dp"] from 0 to 0 : (tensor<8x8xf32, #d>) -> tensor<8x8xf32, #d>
  return %0 : tensor<8x8xf32, #d>
}

// -----

#mesh = #dtc.mesh<dp=2>
#d = #dtc.layout<#mesh, dp: split(0)>
#d1 = #dtc.layout<#mesh, dp: split(1)>

// All collectives
func.func @axis_twice(%x: tensor<8x8xf32, #d>) -> tensor<8x8xf32, #d1> {
  // expected-error @below {{names axis dp twice}}
  %0 = dtc.all_to_all %x over ["dp", "dp"] from 0 to 1 : (tensor<8x8xf32, #d>) -> tensor<8x8xf32, #d1>
  return %0 : tensor<8x8xf32, #d1>
}
