// RUN: dtc-opt %s --dtc-plan-memory=offload=state --dtc-verify=invariant=memory | FileCheck %s --check-prefixes=CHECK,STATE
// RUN: dtc-opt %s --dtc-plan-memory=offload=parameters --dtc-verify=invariant=memory | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: dtc-opt %s --dtc-plan-memory --dtc-verify=invariant=memory | FileCheck %s --check-prefix=NONE
// RUN: not dtc-opt %s --dtc-plan-memory=offload=all 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: offload is 'all', expected none, state or parameters

// Offsets from 2^62 on are of the host's memory. Parts of parameters are what
// has members; running statistics and the like stay.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%p: tensor<32xf32, #d>) -> tensor<32xf32, #r> {
    %0 = dtc.all_gather %p over ["dp"] dim 0 : (tensor<32xf32, #d>) -> tensor<32xf32, #r>
    return %0 : tensor<32xf32, #r>
  }
  func.func private @update(%m: tensor<32xf32, #d> {dtc.update = 0 : i64}, %p: tensor<32xf32, #d> {dtc.update = 1 : i64}) -> (tensor<32xf32, #d>, tensor<32xf32, #d>) {
    %0:2 = dtc.launch @kernels::@update(%m, %p) : (tensor<32xf32, #d>, tensor<32xf32, #d>) -> (tensor<32xf32, #d>, tensor<32xf32, #d>)
    return %0#0, %0#1 : tensor<32xf32, #d>, tensor<32xf32, #d>
  }
  // NONE-LABEL:  func.func @plan(
  // NONE-SAME:       dtc.arena_bytes = 384 : i64}
  // CHECK-LABEL: func.func @plan(
  // STATE-SAME:      dtc.offset = [[#P:]] : i64, dtc.parameter = "/bucket0"
  // BOTH-SAME:       dtc.offset = 4611686018427387904 : i64, dtc.parameter = "/bucket0"
  // CHECK-SAME:      dtc.offset = {{[0-9]?[0-9]?[0-9]}} : i64, dtc.parameter = "mean"
  // STATE-SAME:      dtc.offset = 4611686018427387904 : i64, dtc.state = "/bucket0.momentum"
  // BOTH-SAME:       dtc.offset = 4611686018427387968 : i64, dtc.state = "/bucket0.momentum"
  // STATE-SAME:      dtc.arena_bytes = 320 : i64, dtc.host_bytes = 64 : i64}
  // BOTH-SAME:       dtc.arena_bytes = 256 : i64, dtc.host_bytes = 128 : i64}
  // BOTH:          dtc.run @update({{.*}}) {{.*}}dtc.offsets = array<i64: 4611686018427387968, 4611686018427387904>
  func.func @plan(%p: tensor<32xf32, #d> {dtc.members = [], dtc.parameter = "/bucket0", dtc.update = 1 : i64},
                  %mean: tensor<32xf32, #r> {dtc.parameter = "mean"},
                  %m: tensor<32xf32, #d> {dtc.state = "/bucket0.momentum", dtc.update = 0 : i64})
      -> (tensor<32xf32, #d> {dtc.state = "/bucket0.momentum"}, tensor<32xf32, #d> {dtc.parameter = "/bucket0"}) {
    %0 = dtc.run @forward(%p) : (tensor<32xf32, #d>) -> tensor<32xf32, #r>
    %1:2 = dtc.run @update(%m, %p) : (tensor<32xf32, #d>, tensor<32xf32, #d>) -> (tensor<32xf32, #d>, tensor<32xf32, #d>)
    return %1#0, %1#1 : tensor<32xf32, #d>, tensor<32xf32, #d>
  }
}
// The evaluation has the parameter where the step has it.
module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
  func.func private @forward(%p: tensor<32xf32, #d>) -> tensor<32xf32, #r> {
    %0 = dtc.all_gather %p over ["dp"] dim 0 : (tensor<32xf32, #d>) -> tensor<32xf32, #r>
    return %0 : tensor<32xf32, #r>
  }
  // CHECK-LABEL: func.func @plan(
  // STATE-SAME:      dtc.offset = [[#P]] : i64, dtc.parameter = "/bucket0"
  // BOTH-SAME:       dtc.offset = 4611686018427387904 : i64, dtc.parameter = "/bucket0"
  func.func @plan(%p: tensor<32xf32, #d> {dtc.members = [], dtc.parameter = "/bucket0"}) {
    %0 = dtc.run @forward(%p) : (tensor<32xf32, #d>) -> tensor<32xf32, #r>
    return
  }
}
module @kernels {
  func.func @update(%m: tensor<16xf32> {dtc.update = 0 : i64}, %p: tensor<16xf32> {dtc.update = 1 : i64}) -> (tensor<16xf32>, tensor<16xf32>) attributes {dtc.kernel} {
    %0 = dtc.accumulate %p into %m : tensor<16xf32>
    %1 = dtc.accumulate %0 into %p : tensor<16xf32>
    return %0, %1 : tensor<16xf32>, tensor<16xf32>
  }
}
}
