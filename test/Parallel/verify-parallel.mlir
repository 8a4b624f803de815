// RUN: dtc-opt %s --dtc-verify=invariant=parallel --split-input-file --verify-diagnostics

#mesh = #dtc.mesh<mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
// A sum of inputs may feed what runs per micro-batch: it is known beforehand.
func.func @step(%x: tensor<8xf32, #b> {dtc.input = "x"}, %w: tensor<1xf32, #r> {dtc.parameter = "w"}) {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<8xf32, #b>) -> tensor<1xf32, #p>
  %1 = dtc.sum_microbatches %0 : tensor<1xf32, #p> -> tensor<1xf32, #r>
  %2 = dtc.mul %x, %1 : (tensor<8xf32, #b>, tensor<1xf32, #r>) -> tensor<8xf32, #b>
  return
}

// -----

#mesh = #dtc.mesh<mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
func.func @step(%x: tensor<8xf32, #b> {dtc.input = "x"}, %w: tensor<1xf32, #r> {dtc.parameter = "w"}) {
  %y = dtc.mul %x, %w : (tensor<8xf32, #b>, tensor<1xf32, #r>) -> tensor<8xf32, #b>
  // expected-error@below {{takes a sum or a mean over the whole batch, which each micro-batch needs; use 1 micro-batch}}
  %0 = dtc.reduce_sum %y axes [0] : (tensor<8xf32, #b>) -> tensor<1xf32, #p>
  %1 = dtc.neg %0 : (tensor<1xf32, #p>) -> tensor<1xf32, #p>
  %s = dtc.sum_microbatches %1 : tensor<1xf32, #p> -> tensor<1xf32, #r>
  // expected-note@below {{it is needed here}}
  %2 = dtc.mul %x, %s : (tensor<8xf32, #b>, tensor<1xf32, #r>) -> tensor<8xf32, #b>
  return
}

// -----

#mesh = #dtc.mesh<mb=4>
#b = #dtc.layout<#mesh, mb: split(0)>
// expected-error@below {{argument 1 has no layout}}
func.func @step(%x: tensor<8xf32, #b>, %y: tensor<8xf32>) {
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#p = #dtc.layout<#mesh, dp: partial>
#r = #dtc.layout<#mesh>
func.func @step(%x: tensor<8xf32, #p>) {
  // expected-error@below {{is left after InsertCollectives}}
  %0 = dtc.reshard %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  return
}
