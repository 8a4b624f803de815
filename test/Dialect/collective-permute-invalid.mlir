// One case for each constraint of dtc.collective_permute.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

#mesh = #dtc.mesh<dp=4>
#d = #dtc.layout<#mesh, dp: split(0)>

// A ring: nothing is wrong.
func.func @ring(%x: tensor<8xf32, #d>) -> tensor<8xf32, #d> {
  %0 = dtc.collective_permute %x over ["dp"] sources [3, 0, 1, 2] : (tensor<8xf32, #d>) -> tensor<8xf32, #d>
  return %0 : tensor<8xf32, #d>
}

// -----

#mesh = #dtc.mesh<dp=4>
#d = #dtc.layout<#mesh, dp: split(0)>

// C1
func.func @twice(%x: tensor<8xf32, #d>) -> tensor<8xf32, #d> {
  // expected-error @below {{has sources array<i64: 3, 0, 0, 2>, expected each of 0 to 3 once}}
  %0 = dtc.collective_permute %x over ["dp"] sources [3, 0, 0, 2] : (tensor<8xf32, #d>) -> tensor<8xf32, #d>
  return %0 : tensor<8xf32, #d>
}

// -----

#mesh = #dtc.mesh<dp=4>
#d = #dtc.layout<#mesh, dp: split(0)>

// C1
func.func @too_few(%x: tensor<8xf32, #d>) -> tensor<8xf32, #d> {
  // expected-error @below {{has sources array<i64: 1, 0>, expected each of 0 to 3 once}}
  %0 = dtc.collective_permute %x over ["dp"] sources [1, 0] : (tensor<8xf32, #d>) -> tensor<8xf32, #d>
  return %0 : tensor<8xf32, #d>
}

// -----

#mesh = #dtc.mesh<dp=2>
#p = #dtc.layout<#mesh, dp: partial>

// C2
func.func @partial(%x: tensor<8xf32, #p>) -> tensor<8xf32, #p> {
  // expected-error @below {{moves parts of a sum on dp, expected shards}}
  %0 = dtc.collective_permute %x over ["dp"] sources [1, 0] : (tensor<8xf32, #p>) -> tensor<8xf32, #p>
  return %0 : tensor<8xf32, #p>
}

// -----

#mesh = #dtc.mesh<dp=2, tp=2>
#d = #dtc.layout<#mesh, dp: split(0)>
#t = #dtc.layout<#mesh, tp: split(0)>

// C2
func.func @other_axis(%x: tensor<8xf32, #d>) -> tensor<8xf32, #t> {
  // expected-error @below {{changes layout #dtc.layout<#dtc.mesh<dp=2, tp=2>, dp: split(0)> to #dtc.layout<#dtc.mesh<dp=2, tp=2>, tp: split(0)>, expected a change on ["dp"] only}}
  %0 = dtc.collective_permute %x over ["dp"] sources [1, 0] : (tensor<8xf32, #d>) -> tensor<8xf32, #t>
  return %0 : tensor<8xf32, #t>
}

// -----

#mesh = #dtc.mesh<dp=2, tp=4>
#dt = #dtc.layout<#mesh, dp: split(0), tp: split(0)>
#td = #dtc.layout<#mesh, tp: split(0), dp: split(0)>

// C3
func.func @wrong_shard(%x: tensor<8xf32, #dt>) -> tensor<8xf32, #td> {
  // expected-error @below {{does not give each member its shard under}}
  %0 = dtc.collective_permute %x over ["dp", "tp"] sources [0, 1, 2, 3, 4, 5, 6, 7] : (tensor<8xf32, #dt>) -> tensor<8xf32, #td>
  return %0 : tensor<8xf32, #td>
}

// -----

#mesh = #dtc.mesh<dp=2, tp=4>
#d = #dtc.layout<#mesh, dp: split(0)>
#t = #dtc.layout<#mesh, tp: split(0)>

// C3: not even as many shards.
func.func @more_shards(%x: tensor<8xf32, #d>) -> tensor<8xf32, #t> {
  // expected-error @below {{does not give each member its shard under}}
  %0 = dtc.collective_permute %x over ["dp", "tp"] sources [0, 1, 2, 3, 4, 5, 6, 7] : (tensor<8xf32, #d>) -> tensor<8xf32, #t>
  return %0 : tensor<8xf32, #t>
}
