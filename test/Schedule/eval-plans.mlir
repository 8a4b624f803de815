// RUN: dtc-opt %s --dtc-split-stages | FileCheck %s --check-prefix=SPLIT
// RUN: dtc-opt %s --dtc-split-stages --dtc-schedule-microbatches --dtc-overlap-communication --dtc-plan-memory --dtc-verify=invariant=memory --dtc-verify=invariant=communication | FileCheck %s

// An evaluation beside a step, on two stages that share a parameter: modules of
// its own, forward passes only, and the step's arguments where they are.

#mesh = #dtc.mesh<pp=2, dp=1, mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
module {
  func.func @step(%x: tensor<64x8xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                  %t: tensor<64x8xf32, #b> {dtc.input = "labels", dtc.kind = "label"},
                  %lr: tensor<f64, #r> {dtc.input = "lr", dtc.kind = "lr"},
                  %w: tensor<8x4xf32, #r> {dtc.parameter = "w"}, %m: tensor<8x4xf32, #r> {dtc.state = "w.momentum_buffer"})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<f64, #r> {dtc.output = "eval"}, tensor<8x4xf32, #r> {dtc.parameter = "w"},
          tensor<8x4xf32, #r> {dtc.state = "w.momentum_buffer"}) {
    %h = dtc.matmul %x, %w : (tensor<64x8xf32, #b>, tensor<8x4xf32, #r>) -> tensor<64x4xf32, #b>
    %a1 = dtc.boundary %h from 0 to 1 : tensor<64x4xf32, #b>
    %w1 = dtc.boundary %w from 0 to 1 : tensor<8x4xf32, #r>
    %y = dtc.matmul %a1, %w1 {transpose_rhs} : (tensor<64x4xf32, #b>, tensor<8x4xf32, #r>) -> tensor<64x8xf32, #b>
    %l = dtc.squared_error %y, %t : (tensor<64x8xf32, #b>, tensor<64x8xf32, #b>) -> tensor<f64, #p>
    %s = dtc.sum_microbatches %l : tensor<f64, #p> -> tensor<f64, #r>
    %loss = dtc.sum_over_stages %s : (tensor<f64, #r>) -> tensor<f64, #r>
    %dy = dtc.sub %y, %t : (tensor<64x8xf32, #b>, tensor<64x8xf32, #b>) -> tensor<64x8xf32, #b>
    %da1 = dtc.matmul %dy, %w1 : (tensor<64x8xf32, #b>, tensor<8x4xf32, #r>) -> tensor<64x4xf32, #b>
    %da = dtc.boundary %da1 from 1 to 0 : tensor<64x4xf32, #b>
    %dw = dtc.matmul %x, %da {transpose_lhs} : (tensor<64x8xf32, #b>, tensor<64x4xf32, #b>) -> tensor<8x4xf32, #p>
    %g = dtc.sum_microbatches %dw : tensor<8x4xf32, #p> -> tensor<8x4xf32, #r>
    %w2, %m2 = dtc.sgd %w, %g, %lr, %m {momentum = 0.5 : f64, weight_decay = 0.0 : f64} : (tensor<8x4xf32, #r>, tensor<8x4xf32, #r>, tensor<f64, #r>, tensor<8x4xf32, #r>) -> (tensor<8x4xf32, #r>, tensor<8x4xf32, #r>)
    %abs = dtc.sum_squares %y : (tensor<64x8xf32, #b>) -> tensor<f64, #p>
    %es = dtc.sum_microbatches %abs : tensor<f64, #p> -> tensor<f64, #r>
    %e = dtc.sum_over_stages %es : (tensor<f64, #r>) -> tensor<f64, #r>
    return %loss, %e, %w2, %m2 : tensor<f64, #r>, tensor<f64, #r>, tensor<8x4xf32, #r>, tensor<8x4xf32, #r>
  }
}

// SPLIT-NOT:   func.func @step
// SPLIT-NOT:   func.func @eval
// SPLIT:       module @stage0 attributes {dtc.stage = 0 : i64}
// SPLIT:       module @stage1 attributes {dtc.stage = 1 : i64}
// SPLIT:       module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64}
// SPLIT-NEXT:    func.func private @forward
// SPLIT:         func.func private @update
// SPLIT:         func.func private @plan(tensor<64x8xf32, #mb> {dtc.input = "x"
// SPLIT-SAME:        tensor<8x4xf32, #replicated> {dtc.parameter = "w"
// SPLIT-SAME:        -> (tensor<f64, #replicated> {dtc.output = "eval"
// SPLIT:       module @eval1 attributes {dtc.program = "eval", dtc.stage = 1 : i64}
// SPLIT-NEXT:    func.func private @forward
// SPLIT-NOT:     @weight
// SPLIT-NOT:     @backward
// SPLIT:         func.func private @plan

// The arena of both plans is one.
// CHECK:       module @stage0
// CHECK:         func.func @plan(
// CHECK-SAME:        dtc.input = "x", dtc.kind = "input", dtc.offset = [[X:[0-9]+]]
// CHECK-SAME:        dtc.offset = [[W:[0-9]+]] : i64, dtc.parameter = "w"
// CHECK-SAME:        dtc.arena_bytes = [[ARENA:[0-9]+]]
// CHECK:       module @eval0
// CHECK:         func.func @plan(
// CHECK-SAME:        dtc.input = "x", dtc.kind = "input", dtc.offset = [[X]]
// CHECK-SAME:        dtc.offset = [[W]] : i64, dtc.parameter = "w"
// CHECK-SAME:        dtc.arena_bytes = [[ARENA]]
// No gradient says that an activation has arrived: it has when the next is sent.
// CHECK-NEXT:    dtc.send %[[P:.*]] to 1 tag 4
// CHECK-NEXT:    dtc.microbatch
// CHECK-NEXT:    %[[A0:.*]] = dtc.run @forward({{.*}}) microbatch 0
// CHECK-NEXT:    %[[SENT_A0:.*]] = dtc.send %[[A0]] to 1 tag 0
// CHECK-NEXT:    dtc.microbatch
// CHECK-NEXT:    %[[A1:.*]] = dtc.run @forward({{.*}}) microbatch 1
// CHECK-NEXT:    %[[SENT_A1:.*]] = dtc.send %[[A1]] to 1 tag 1
// CHECK-NEXT:    dtc.wait %[[SENT_A0]] :
// CHECK-NEXT:    dtc.microbatch
// CHECK-NEXT:    %[[A2:.*]] = dtc.run @forward({{.*}}) microbatch 2
// CHECK-NEXT:    dtc.send %[[A2]] to 1 tag 2
// CHECK-NEXT:    dtc.wait %[[SENT_A1]] :
// CHECK:         %[[E:.*]] = dtc.run @update
// CHECK:         return %[[E]]
