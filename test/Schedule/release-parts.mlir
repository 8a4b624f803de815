// RUN: dtc-opt %s --dtc-prepare-update | FileCheck %s
// RUN: dtc-opt %s --dtc-prepare-update --dtc-plan-memory --dtc-verify=invariant=memory | FileCheck %s --check-prefix=MEMORY
// RUN: dtc-opt %s --dtc-prepare-update=offload=parameters | FileCheck %s --check-prefix=HOST

// Offloaded parts free no memory: the update overwrites them on the host.
// HOST: func.func private @update(%arg0: tensor<32x4xf32, #dp> {dtc.update = 0 : i64}, %arg1: tensor<32x4xf32, #dp> {dtc.update = 1 : i64}
// HOST-NOT: dtc.local_slice

// The update cuts its part of %p out of the whole, and the new part takes the
// place of the old. In between, others use it. %q is needed as it is by another
// function, too.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#dp = #dtc.layout<#mesh, dp: split(0)>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @prologue(%p: tensor<32x4xf32, #dp>, %q: tensor<32x4xf32, #dp>) -> (tensor<32x4xf32, #r>, tensor<32x4xf32, #r>) attributes {dtc.phase = #dtc.phase<prologue>} {
    %a = dtc.all_gather %p over ["dp"] dim 0 : (tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #r>
    %b = dtc.all_gather %q over ["dp"] dim 0 : (tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #r>
    return %a, %b : tensor<32x4xf32, #r>, tensor<32x4xf32, #r>
  }
  func.func private @forward(%a: tensor<32x4xf32, #r>, %b: tensor<32x4xf32, #r>, %q: tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #dp> attributes {dtc.phase = #dtc.phase<forward>} {
    %h = dtc.add %a, %b : (tensor<32x4xf32, #r>, tensor<32x4xf32, #r>) -> tensor<32x4xf32, #r>
    %s = dtc.local_slice %h over ["dp"] dim 0 : (tensor<32x4xf32, #r>) -> tensor<32x4xf32, #dp>
    %y = dtc.add %s, %q : (tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #dp>
    return %y : tensor<32x4xf32, #dp>
  }
  func.func private @weight(%y: tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #dp> attributes {dtc.phase = #dtc.phase<weight>} {
    %g = dtc.relu %y : (tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #dp>
    return %g : tensor<32x4xf32, #dp>
  }
  // CHECK: @update(%arg0: tensor<32x4xf32, #replicated>, %arg1: tensor<32x4xf32, #dp> {dtc.update = 1 : i64}, %arg2
  // CHECK-NEXT: %[[P:.*]] = dtc.local_slice %arg0 over ["dp"] dim 0
  // CHECK-NEXT: %[[P1:.*]] = dtc.sgd %[[P]], %arg2, %arg3
  // CHECK-NEXT: %[[Q1:.*]] = dtc.sgd %arg1, %arg2, %arg3
  // CHECK-NEXT: return %[[P1]], %[[Q1]]
  func.func private @update(%p: tensor<32x4xf32, #dp> {dtc.update = 0 : i64}, %q: tensor<32x4xf32, #dp> {dtc.update = 1 : i64}, %g: tensor<32x4xf32, #dp>, %lr: tensor<f64, #r>)
      -> (tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>) attributes {dtc.phase = #dtc.phase<update>} {
    %p1 = dtc.sgd %p, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>, tensor<f64, #r>) -> tensor<32x4xf32, #dp>
    %q1 = dtc.sgd %q, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>, tensor<f64, #r>) -> tensor<32x4xf32, #dp>
    return %p1, %q1 : tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>
  }
  // CHECK: @plan(%arg0: tensor<32x4xf32, #dp> {dtc.parameter = "p"}, %arg1: tensor<32x4xf32, #dp> {dtc.parameter = "q", dtc.update = 1 : i64}
  // CHECK-NEXT: %[[G:.*]]:2 = dtc.run @prologue(%arg0, %arg1)
  // CHECK: dtc.run @update(%[[G]]#0, %arg1,
  // The forward pass works where the part of %p was, and will be.
  // MEMORY: @plan(%arg0: tensor<32x4xf32, #dp> {dtc.offset = [[#P:]] : i64, dtc.parameter = "p"}, {{.*}}{dtc.offset = [[#Q:]] : i64, dtc.parameter = "q"
  // MEMORY: dtc.run @forward({{.*}}dtc.frame_offset = [[#P]]
  // MEMORY: dtc.run @update({{.*}}dtc.offsets = array<i64: [[#P]], [[#Q]]>
  func.func @plan(%p: tensor<32x4xf32, #dp> {dtc.parameter = "p", dtc.update = 0 : i64}, %q: tensor<32x4xf32, #dp> {dtc.parameter = "q", dtc.update = 1 : i64}, %lr: tensor<f64, #r> {dtc.input = "lr"})
      -> (tensor<32x4xf32, #dp> {dtc.parameter = "p"}, tensor<32x4xf32, #dp> {dtc.parameter = "q"}) {
    %w:2 = dtc.run @prologue(%p, %q) : (tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>) -> (tensor<32x4xf32, #r>, tensor<32x4xf32, #r>)
    %y = dtc.run @forward(%w#0, %w#1, %q) microbatch 0 : (tensor<32x4xf32, #r>, tensor<32x4xf32, #r>, tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #dp>
    %g = dtc.run @weight(%y) microbatch 0 : (tensor<32x4xf32, #dp>) -> tensor<32x4xf32, #dp>
    %u:2 = dtc.run @update(%p, %q, %g, %lr) : (tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>, tensor<f64, #r>) -> (tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>)
    return %u#0, %u#1 : tensor<32x4xf32, #dp>, tensor<32x4xf32, #dp>
  }
}
}
