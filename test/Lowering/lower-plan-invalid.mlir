// RUN: dtc-opt %s --dtc-lower-plan --verify-diagnostics

#mesh = #dtc.mesh<dp=2, mb=1>
#s = #dtc.layout<#mesh, dp: partial(sum)>
#dp1 = #dtc.layout<#mesh, dp: split(1)>

// Parts along another dimension would have to be put in order at the wait.
module {
  module @stage0 attributes {dtc.stage = 0 : i64} {
    func.func private @communicate(%x: tensor<4x4xf32, #s>) attributes {dtc.frame_bytes = 64 : i64} {
      // expected-error @below {{starts along dimension 1 of 'tensor<4x4xf32, #dtc.layout<#dtc.mesh<dp=2, mb=1>, dp: split(1)>>', expected the first that is not 1}}
      %0 = dtc.reduce_scatter sum %x over ["dp"] dim 1 {dtc.async, dtc.offsets = array<i64: 0>} : (tensor<4x4xf32, #s>) -> tensor<4x4xf32, #dp1>
      dtc.wait %0 : tensor<4x4xf32, #dp1>
      return
    }
  }
}
