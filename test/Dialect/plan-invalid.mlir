// The errors of the verifiers of calls and of micro-batches.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8xf32>) {
  // expected-error@below {{calls @g, which is not a function}}
  %0 = dtc.run @g(%x) microbatch 0 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @g(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@below {{calls @g of type '(tensor<4xf32>) -> tensor<4xf32>' with other types}}
  %0 = dtc.run @g(%x) microbatch 0 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#mb_dp = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#dp = #dtc.layout<#mesh, dp: split(0)>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@below {{needs layouts}}
  %0 = dtc.microbatch %x[0] : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#mb_dp = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#dp = #dtc.layout<#mesh, dp: split(0)>
func.func @f(%x: tensor<8xf32, #dp>) {
  // expected-error@below {{operand has layout #dtc.layout<#dtc.mesh<dp=2, mb=4>, dp: split(0)>, expected dimension 0 split on mb first}}
  %0 = dtc.microbatch %x[0] : tensor<8xf32, #dp> -> tensor<2xf32, #dp>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#mb_dp = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#dp = #dtc.layout<#mesh, dp: split(0)>
func.func @f(%x: tensor<8xf32, #mb_dp>) {
  // expected-error@below {{index 4 is not below the 4 micro-batches}}
  %0 = dtc.microbatch %x[4] : tensor<8xf32, #mb_dp> -> tensor<2xf32, #dp>
  return
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#mb_dp = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#dp = #dtc.layout<#mesh, dp: split(0)>
func.func @f(%x: tensor<8xf32, #mb_dp>) {
  // expected-error@below {{result is 'tensor<4xf32, #dtc.layout<#dtc.mesh<dp=2, mb=4>, dp: split(0)>>', expected 'tensor<2xf32, #dtc.layout<#dtc.mesh<dp=2, mb=4>, dp: split(0)>>'}}
  %0 = dtc.microbatch %x[0] : tensor<8xf32, #mb_dp> -> tensor<4xf32, #dp>
  return
}
