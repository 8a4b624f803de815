// RUN: dtc-opt %s --dtc-split-stages --split-input-file | FileCheck %s

// Two stages that share a parameter: it crosses once, and so does its gradient,
// after it has been accumulated.

#mesh = #dtc.mesh<pp=2, dp=2, mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial, mb: partial>
#q = #dtc.layout<#mesh, dp: partial>
module @tied {
  func.func @step(%x: tensor<64x8xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                  %t: tensor<64x8xf32, #b> {dtc.input = "labels", dtc.kind = "label"},
                  %lr: tensor<f64, #r> {dtc.input = "lr", dtc.kind = "lr"},
                  %w: tensor<8x4xf32, #r> {dtc.parameter = "w"})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<8x4xf32, #r> {dtc.parameter = "w"},
          tensor<8x4xf32, #r> {dtc.gradient = "w"}) {
    %h = dtc.matmul %x, %w : (tensor<64x8xf32, #b>, tensor<8x4xf32, #r>) -> tensor<64x4xf32, #b>
    %a = dtc.relu %h : (tensor<64x4xf32, #b>) -> tensor<64x4xf32, #b>
    %a1 = dtc.boundary %a from 0 to 1 : tensor<64x4xf32, #b>
    %w1 = dtc.boundary %w from 0 to 1 : tensor<8x4xf32, #r>
    %y = dtc.matmul %a1, %w1 {transpose_rhs} : (tensor<64x4xf32, #b>, tensor<8x4xf32, #r>) -> tensor<64x8xf32, #b>
    %l = dtc.squared_error %y, %t : (tensor<64x8xf32, #b>, tensor<64x8xf32, #b>) -> tensor<f64, #p>
    %loss = dtc.sum_over_stages %l : (tensor<f64, #p>) -> tensor<f64, #p>
    %dy = dtc.sub %y, %t : (tensor<64x8xf32, #b>, tensor<64x8xf32, #b>) -> tensor<64x8xf32, #b>
    %da1 = dtc.matmul %dy, %w1 : (tensor<64x8xf32, #b>, tensor<8x4xf32, #r>) -> tensor<64x4xf32, #b>
    %dw1 = dtc.matmul %dy, %a1 {transpose_lhs} : (tensor<64x8xf32, #b>, tensor<64x4xf32, #b>) -> tensor<8x4xf32, #p>
    %da = dtc.boundary %da1 from 1 to 0 : tensor<64x4xf32, #b>
    %dwb = dtc.boundary %dw1 from 1 to 0 : tensor<8x4xf32, #p>
    %dh = dtc.mul %da, %a : (tensor<64x4xf32, #b>, tensor<64x4xf32, #b>) -> tensor<64x4xf32, #b>
    %dwa = dtc.matmul %x, %dh {transpose_lhs} : (tensor<64x8xf32, #b>, tensor<64x4xf32, #b>) -> tensor<8x4xf32, #p>
    %dw = dtc.add %dwa, %dwb : (tensor<8x4xf32, #p>, tensor<8x4xf32, #p>) -> tensor<8x4xf32, #p>
    %sum = dtc.sum_microbatches %dw : tensor<8x4xf32, #p> -> tensor<8x4xf32, #q>
    %g = dtc.all_reduce sum %sum over ["dp"] : (tensor<8x4xf32, #q>) -> tensor<8x4xf32, #r>
    %w2 = dtc.sgd %w, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<8x4xf32, #r>, tensor<8x4xf32, #r>, tensor<f64, #r>) -> tensor<8x4xf32, #r>
    %ls = dtc.sum_microbatches %loss : tensor<f64, #p> -> tensor<f64, #q>
    %lr2 = dtc.all_reduce sum %ls over ["dp"] : (tensor<f64, #q>) -> tensor<f64, #r>
    return %lr2, %w2, %g : tensor<f64, #r>, tensor<8x4xf32, #r>, tensor<8x4xf32, #r>
  }
}

// The first stage has no backward boundary to feed: all gradients are weight
// gradients. Values that F makes and W needs are results of F.
// CHECK-LABEL: module @tied
// CHECK:         module @stage0 attributes {dtc.stage = 0 : i64}
// CHECK:           func.func private @forward(%[[X:[a-z0-9]+]]: tensor<16x8xf32, #dp> {dtc.value = 0 : i64}, %[[W:[a-z0-9]+]]: tensor<8x4xf32, #replicated> {dtc.value = 3 : i64})
// CHECK-SAME:          -> (tensor<16x4xf32, #dp> {dtc.value = 5 : i64})
// CHECK-NEXT:        %[[H:.*]] = dtc.matmul %[[X]], %[[W]]
// CHECK-NEXT:        %[[A:.*]] = dtc.relu %[[H]]
// CHECK-NEXT:        return %[[A]]
// CHECK-NOT:       @backward
// CHECK:           func.func private @weight(%[[X:[a-z0-9]+]]: tensor<16x8xf32, #dp> {dtc.value = 0 : i64}, %[[A:[a-z0-9]+]]: tensor<16x4xf32, #dp> {dtc.value = 5 : i64},
// CHECK-SAME:          %[[DA:[a-z0-9]+]]: tensor<16x4xf32, #dp> {dtc.value = [[DAV:[0-9]+]] : i64},
// CHECK-SAME:          %[[ACC:[a-z0-9]+]]: tensor<8x4xf32, #partial_dp> {dtc.update = 0 : i64, dtc.value = [[DW:[0-9]+]] : i64})
// CHECK-SAME:          -> (tensor<8x4xf32, #partial_dp> {dtc.value = [[DW]] : i64})
// CHECK-NEXT:        %[[DH:.*]] = dtc.mul %[[DA]], %[[A]]
// CHECK-NEXT:        %[[DWA:.*]] = dtc.matmul %[[X]], %[[DH]] {transpose_lhs}
// CHECK-NEXT:        %[[R:.*]] = dtc.accumulate %[[DWA]] into %[[ACC]]
// CHECK-NEXT:        return %[[R]]

// A sum over stages: no part here, so zero, and every stage takes part.
// CHECK:           func.func private @update(
// CHECK:             %[[Z:.*]] = dtc.zero : tensor<f64, #partial_pp_partial_dp>
// CHECK:             dtc.all_reduce sum %[[Z]] over ["pp"] {dtc.value = [[SUM:[0-9]+]] : i64} : (tensor<f64, #partial_pp_partial_dp>) -> tensor<f64, #partial_dp>
// CHECK:             %[[DW:.*]] = dtc.add
// CHECK:             %[[G:.*]] = dtc.all_reduce sum %[[DW]] over ["dp"]
// CHECK:             dtc.sgd %{{.*}}, %[[G]]
// CHECK:           func.func private @plan(
// CHECK-SAME:          tensor<64x8xf32, #mb_dp> {dtc.input = "x", dtc.kind = "input", dtc.value = 0 : i64}
// CHECK-NOT:           dtc.input = "labels"
// CHECK-SAME:          tensor<8x4xf32, #replicated> {dtc.parameter = "w", dtc.value = 3 : i64})
// CHECK-SAME:          dtc.output = "loss"
// CHECK-SAME:          dtc.gradient = "w"
// CHECK-SAME:          dtc.recvs = [{channel = 2 : i64, phase = #dtc.phase<backward>, source = {{[^,]*}}, stage = 1 : i64, type = tensor<16x4xf32, #dp>
// CHECK-SAME:                       {channel = 3 : i64, phase = #dtc.phase<reduce 1>, source = {{[^,]*}}, stage = 1 : i64, type = tensor<8x4xf32, #partial_dp>
// CHECK-SAME:          dtc.sends = [{channel = 0 : i64, phase = #dtc.phase<forward>, source = {{[^,]*}}, stage = 1 : i64
// CHECK-SAME:                       {channel = 1 : i64, phase = #dtc.phase<prologue>, source = {{[^,]*}}, stage = 1 : i64

// CHECK:         module @stage1 attributes {dtc.stage = 1 : i64}
// CHECK:           func.func private @forward(
// CHECK-NEXT:        %[[Y:.*]] = dtc.matmul
// CHECK-NEXT:        return %[[Y]]
// The loss is summed beside its gradient.
// CHECK:           func.func private @backward(
// CHECK-NEXT:        %[[L:.*]] = dtc.squared_error
// CHECK-NEXT:        %[[S:.*]] = dtc.accumulate %[[L]] into %{{.*}} : tensor<f64, #partial_dp>
// CHECK-NEXT:        %[[DY:.*]] = dtc.sub
// CHECK-NEXT:        %[[DA:.*]] = dtc.matmul %[[DY]]
// CHECK-NEXT:        return %[[S]], %[[DY]], %[[DA]]
// CHECK:           func.func private @weight(
// CHECK-NEXT:        dtc.matmul
// CHECK-NEXT:        dtc.accumulate
// CHECK-NEXT:        return
// CHECK:           func.func private @update(
// CHECK-SAME:          tensor<f64, #partial_dp> {dtc.update = 0 : i64
// CHECK:             dtc.all_reduce sum %{{.*}} over ["pp"] {dtc.value = [[SUM]] : i64}
// CHECK:             dtc.all_reduce sum %{{.*}} over ["dp"]
// The parameter and its gradient are the first stage's.
// CHECK:           func.func private @plan(
// CHECK-NOT:           dtc.parameter
// CHECK-NOT:           dtc.gradient
// CHECK:               dtc.recvs

// -----

// A sum over micro-batches of inputs comes before the first of them. Views are
// cloned, a view crosses as the memory behind it, constants are cloned. The sum
// gets its shape where a micro-batch makes its part. If the update reads a sum
// in another shape, too, it gets one of them, and returns the one that it does
// not overwrite.

#mesh = #dtc.mesh<pp=2, dp=1, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
module @inputs {
  func.func @step(%x: tensor<8x2x2xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                  %t: tensor<8xi64, #b> {dtc.input = "labels", dtc.kind = "label"},
                  %w: tensor<4xf32, #r> {dtc.parameter = "w"})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<4xf32, #r> {dtc.gradient = "w"}, tensor<1x4xf32, #r>, tensor<4xf32, #r>) {
    %c = dtc.count_labels %t {ignore_index = -100 : i64} : (tensor<8xi64, #b>) -> tensor<f64, #p>
    %n = dtc.sum_microbatches %c : tensor<f64, #p> -> tensor<f64, #r>
    %one = dtc.constant dense<1.0> : tensor<f64> to tensor<f64, #r>
    %scale = dtc.div %one, %n : (tensor<f64, #r>, tensor<f64, #r>) -> tensor<f64, #r>
    %f = dtc.reshape %x : (tensor<8x2x2xf32, #b>) -> tensor<8x4xf32, #b>
    %z = dtc.mul %f, %w : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
    %v = dtc.reshape %z : (tensor<8x4xf32, #b>) -> tensor<8x2x2xf32, #b>
    %v1 = dtc.boundary %v from 0 to 1 : tensor<8x2x2xf32, #b>
    %s = dtc.sum_squares %v1 : (tensor<8x2x2xf32, #b>) -> tensor<f64, #p>
    %m = dtc.mul %s, %scale : (tensor<f64, #p>, tensor<f64, #r>) -> tensor<f64, #p>
    %l = dtc.sum_over_stages %m : (tensor<f64, #p>) -> tensor<f64, #p>
    %loss = dtc.sum_microbatches %l : tensor<f64, #p> -> tensor<f64, #r>
    %k = dtc.cast %scale : (tensor<f64, #r>) -> tensor<f32, #r>
    %dv = dtc.mul %v1, %k : (tensor<8x2x2xf32, #b>, tensor<f32, #r>) -> tensor<8x2x2xf32, #b>
    %d = dtc.boundary %dv from 1 to 0 : tensor<8x2x2xf32, #b>
    %e = dtc.reshape %d : (tensor<8x2x2xf32, #b>) -> tensor<8x4xf32, #b>
    %ef = dtc.mul %e, %f : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
    %h = dtc.reduce_sum %ef axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
    %hr = dtc.reshape %h : (tensor<1x4xf32, #p>) -> tensor<4xf32, #p>
    %g = dtc.sum_microbatches %hr : tensor<4xf32, #p> -> tensor<4xf32, #r>
    %d2 = dtc.reduce_sum %e axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
    %d1 = dtc.reshape %d2 : (tensor<1x4xf32, #p>) -> tensor<4xf32, #p>
    %g2 = dtc.sum_microbatches %d2 : tensor<1x4xf32, #p> -> tensor<1x4xf32, #r>
    %g1 = dtc.sum_microbatches %d1 : tensor<4xf32, #p> -> tensor<4xf32, #r>
    return %loss, %g, %g2, %g1 : tensor<f64, #r>, tensor<4xf32, #r>, tensor<1x4xf32, #r>, tensor<4xf32, #r>
  }
}

// CHECK-LABEL: module @inputs
// CHECK:         module @stage0
// CHECK:           func.func private @forward(%[[X:[a-z0-9]+]]: tensor<4x2x2xf32, #replicated>
// CHECK-NEXT:        %[[F:.*]] = dtc.reshape %[[X]]
// CHECK-NEXT:        %[[Z:.*]] = dtc.mul %[[F]]
// CHECK-NEXT:        return %[[Z]] : tensor<4x4xf32, #replicated>
// CHECK:           func.func private @weight(%[[X:[a-z0-9]+]]: tensor<4x2x2xf32, #replicated>
// CHECK-NEXT:        %[[F:.*]] = dtc.reshape %[[X]]
// CHECK-NEXT:        %[[E:.*]] = dtc.reshape
// CHECK-NEXT:        dtc.mul %[[E]], %[[F]]
// CHECK-NEXT:        %[[H:.*]] = dtc.reduce_sum
// CHECK-NEXT:        %[[HR:.*]] = dtc.reshape %[[H]] : {{.*}} -> tensor<4xf32, #replicated>
// CHECK-NEXT:        dtc.accumulate %[[HR]]
// CHECK:           func.func private @update(%{{[a-z0-9]+}}: tensor<1x4xf32, #replicated> {dtc.value = {{[0-9]+}} : i64})
// CHECK-COUNT-1:     dtc.reshape
// CHECK:             return
// CHECK:         module @stage1
// CHECK:           func.func private @inputs(%[[T:[a-z0-9]+]]: tensor<4xi64, #replicated>
// CHECK-NEXT:        %[[C:.*]] = dtc.count_labels %[[T]]
// CHECK-NEXT:        %[[A:.*]] = dtc.accumulate %[[C]]
// CHECK-NEXT:        return %[[A]]
// CHECK:           func.func private @prologue(%[[N:[a-z0-9]+]]: tensor<f64, #replicated>
// CHECK:             dtc.div %{{.*}}, %[[N]]
// CHECK:             dtc.cast
// Nothing is left for the forward pass.
// CHECK-NOT:       @forward
// CHECK:           func.func private @backward(%[[Z:[a-z0-9]+]]: tensor<4x4xf32, #replicated>
// CHECK-NEXT:        %[[V:.*]] = dtc.reshape %[[Z]]
// CHECK-NEXT:        dtc.sum_squares %[[V]]
// CHECK-NEXT:        dtc.accumulate
// CHECK-NEXT:        dtc.mul %[[V]]

// -----

// One stage is not a special case: there is no message and no sum over stages.

#mesh = #dtc.mesh<pp=1, dp=1, mb=1>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
module @one {
  func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                  %lr: tensor<f64, #r> {dtc.input = "lr", dtc.kind = "lr"},
                  %w: tensor<4xf32, #r> {dtc.parameter = "w"})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<4xf32, #r> {dtc.parameter = "w"}) {
    %z = dtc.mul %x, %w : (tensor<8x4xf32, #b>, tensor<4xf32, #r>) -> tensor<8x4xf32, #b>
    %s = dtc.sum_squares %z : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
    %l = dtc.sum_over_stages %s : (tensor<f64, #p>) -> tensor<f64, #p>
    %loss = dtc.sum_microbatches %l : tensor<f64, #p> -> tensor<f64, #r>
    %zx = dtc.mul %z, %x : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
    %h = dtc.reduce_sum %zx axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
    %hr = dtc.reshape %h : (tensor<1x4xf32, #p>) -> tensor<4xf32, #p>
    %g = dtc.sum_microbatches %hr : tensor<4xf32, #p> -> tensor<4xf32, #r>
    %w2 = dtc.sgd %w, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32, #r>, tensor<4xf32, #r>, tensor<f64, #r>) -> tensor<4xf32, #r>
    return %loss, %w2 : tensor<f64, #r>, tensor<4xf32, #r>
  }
}

// CHECK-LABEL: module @one
// CHECK:         module @stage0
// CHECK:           func.func private @forward
// CHECK:           func.func private @weight
// CHECK:           func.func private @update(
// CHECK-NOT:         dtc.all_reduce
// CHECK:             dtc.sgd
// CHECK:           func.func private @plan(
// CHECK-NOT:         dtc.sends
// CHECK-NOT:       module @stage1

// -----

// Four virtual stages on two stages: each has two functions of a kind, and what
// crosses between chunks of one stage, a parameter and its gradient, is sent to
// nobody.

#mesh = #dtc.mesh<pp=2, dp=1, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
module @virtual {
  func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                  %t: tensor<8x4xf32, #b> {dtc.input = "labels", dtc.kind = "label"},
                  %w: tensor<4x4xf32, #r> {dtc.parameter = "w"})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<4x4xf32, #r> {dtc.gradient = "w"}) {
    %h0 = dtc.matmul %x, %w : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
    %a1 = dtc.boundary %h0 from 0 to 1 : tensor<8x4xf32, #b>
    %h1 = dtc.relu %a1 : (tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
    %a2 = dtc.boundary %h1 from 1 to 2 : tensor<8x4xf32, #b>
    %w2 = dtc.boundary %w from 0 to 2 : tensor<4x4xf32, #r>
    %h2 = dtc.matmul %a2, %w2 : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
    %a3 = dtc.boundary %h2 from 2 to 3 : tensor<8x4xf32, #b>
    %l = dtc.squared_error %a3, %t : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<f64, #p>
    %loss = dtc.sum_over_stages %l : (tensor<f64, #p>) -> tensor<f64, #p>
    %d3 = dtc.sub %a3, %t : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
    %d2 = dtc.boundary %d3 from 3 to 2 : tensor<8x4xf32, #b>
    %dw2 = dtc.matmul %a2, %d2 {transpose_lhs} : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<4x4xf32, #p>
    %dx2 = dtc.matmul %d2, %w2 {transpose_rhs} : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
    %d1 = dtc.boundary %dx2 from 2 to 1 : tensor<8x4xf32, #b>
    %dx1 = dtc.mul %d1, %h1 : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<8x4xf32, #b>
    %d0 = dtc.boundary %dx1 from 1 to 0 : tensor<8x4xf32, #b>
    %dw0 = dtc.matmul %x, %d0 {transpose_lhs} : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<4x4xf32, #p>
    %dwb = dtc.boundary %dw2 from 2 to 0 : tensor<4x4xf32, #p>
    %dw = dtc.add %dw0, %dwb : (tensor<4x4xf32, #p>, tensor<4x4xf32, #p>) -> tensor<4x4xf32, #p>
    %g = dtc.sum_microbatches %dw : tensor<4x4xf32, #p> -> tensor<4x4xf32, #r>
    %ls = dtc.sum_microbatches %loss : tensor<f64, #p> -> tensor<f64, #r>
    return %ls, %g : tensor<f64, #r>, tensor<4x4xf32, #r>
  }
}

// CHECK-LABEL: module @virtual
// CHECK:         module @stage0
// CHECK:           @forward(%[[X:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = 0 : i64}, %[[W:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = [[WV:[0-9]+]] : i64})
// CHECK-NEXT:        dtc.matmul %[[X]], %[[W]]
// CHECK:           @forward1(%[[W:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = [[WV]] : i64}, %[[A2:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = [[A2V:[0-9]+]] : i64})
// CHECK-NEXT:        dtc.matmul %[[A2]], %[[W]]
// CHECK-NOT:       @backward(
// CHECK:           @backward1(%[[W:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = [[WV]] : i64}, %[[D2:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = [[D2V:[0-9]+]] : i64})
// CHECK-NEXT:        dtc.matmul %[[D2]], %[[W]] {transpose_rhs}
// CHECK:           @weight({{.*}}{dtc.update = 0 : i64, dtc.value = [[DW0:[0-9]+]] : i64})
// CHECK:           @weight1({{.*}}{dtc.update = 0 : i64, dtc.value = [[DW2:[0-9]+]] : i64})
// CHECK:           @update(%[[G2:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = [[DW2]] : i64}, %[[G0:[a-z0-9]+]]: tensor<4x4xf32, #replicated> {dtc.value = [[DW0]] : i64})
// CHECK:             dtc.add %[[G0]], %[[G2]]
// CHECK:           @plan
// CHECK-SAME:        dtc.recvs = [{{[^}]*}}phase = #dtc.phase<forward 1>{{[^}]*}}stage = 1{{[^}]*}}value = [[A2V]] : i64}, {{[^}]*}}phase = #dtc.phase<backward 1>{{[^}]*}}stage = 1{{[^}]*}}value = [[D2V]] : i64}, {{[^}]*}}phase = #dtc.phase<backward>{{[^}]*}}stage = 1{{[^}]*}}}]
// CHECK-SAME:        dtc.sends = [{{[^}]*}}phase = #dtc.phase<forward>{{[^}]*}}}, {{[^}]*}}phase = #dtc.phase<forward 1>{{[^}]*}}}, {{[^}]*}}phase = #dtc.phase<backward 1>{{[^}]*}}}]
// CHECK-SAME:        dtc.virtual_stages = 2 : i64
// CHECK:         module @stage1
// CHECK:           @plan
// CHECK-SAME:        dtc.virtual_stages = 2 : i64

// -----

// The sums behind a running statistic accumulate in the forward pass, so that
// the backward pass does not compute them again.

#mesh = #dtc.mesh<pp=1, dp=1, mb=2>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
module @statistics {
  func.func @step(%x: tensor<8x4xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                  %w: tensor<4x4xf32, #r> {dtc.parameter = "w"},
                  %m: tensor<1x4xf32, #r> {dtc.parameter = "running_mean", dtc.frozen, dtc.statistic})
      -> (tensor<f64, #r> {dtc.output = "loss"}, tensor<1x4xf32, #r> {dtc.parameter = "running_mean"}, tensor<4x4xf32, #r> {dtc.gradient = "w"}) {
    %h = dtc.matmul %x, %w : (tensor<8x4xf32, #b>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #b>
    %s = dtc.reduce_sum %h axes [0] : (tensor<8x4xf32, #b>) -> tensor<1x4xf32, #p>
    %l = dtc.sum_squares %h : (tensor<8x4xf32, #b>) -> tensor<f64, #p>
    %dw = dtc.matmul %x, %h {transpose_lhs} : (tensor<8x4xf32, #b>, tensor<8x4xf32, #b>) -> tensor<4x4xf32, #p>
    %ls = dtc.sum_microbatches %l : tensor<f64, #p> -> tensor<f64, #r>
    %ss = dtc.sum_microbatches %s : tensor<1x4xf32, #p> -> tensor<1x4xf32, #r>
    %m1 = dtc.average %m, %ss {decay = 9.0e-01 : f64} : (tensor<1x4xf32, #r>, tensor<1x4xf32, #r>) -> tensor<1x4xf32, #r>
    %g = dtc.sum_microbatches %dw : tensor<4x4xf32, #p> -> tensor<4x4xf32, #r>
    return %ls, %m1, %g : tensor<f64, #r>, tensor<1x4xf32, #r>, tensor<4x4xf32, #r>
  }
}

// CHECK-LABEL: module @statistics
// CHECK:           @forward(
// CHECK:             %[[S:.+]] = dtc.reduce_sum
// CHECK:             dtc.accumulate %[[S]] into
// CHECK:           @weight(
// CHECK-NOT:         dtc.reduce_sum
// CHECK:           @update(
// CHECK:             dtc.average

// -----

// The value of the only micro-batch is the sum over all of them.

#mesh = #dtc.mesh<pp=1, dp=1, mb=1>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
#p = #dtc.layout<#mesh, mb: partial>
module @one {
  func.func @step(%x: tensor<16x8xf32, #b> {dtc.input = "x", dtc.kind = "input"},
                  %dy: tensor<16x4xf32, #b> {dtc.input = "labels", dtc.kind = "label"},
                  %w: tensor<8x4xf32, #r> {dtc.parameter = "w"})
      -> (tensor<8x4xf32, #r> {dtc.parameter = "w"}, tensor<8x4xf32, #r> {dtc.gradient = "w"}) {
    %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<16x8xf32, #b>, tensor<16x4xf32, #b>) -> tensor<8x4xf32, #p>
    %g = dtc.sum_microbatches %dw : tensor<8x4xf32, #p> -> tensor<8x4xf32, #r>
    return %w, %g : tensor<8x4xf32, #r>, tensor<8x4xf32, #r>
  }
}

// CHECK-LABEL: module @one
// CHECK:           func.func private @weight(%[[X:[a-z0-9]+]]: tensor<16x8xf32, #replicated> {dtc.value = 0 : i64}, %[[DY:[a-z0-9]+]]: tensor<16x4xf32, #replicated> {dtc.value = 1 : i64})
// CHECK-SAME:          -> (tensor<8x4xf32, #replicated> {dtc.value = [[DW:[0-9]+]] : i64})
// CHECK-NEXT:        %[[DW:.*]] = dtc.matmul %[[X]], %[[DY]] {transpose_lhs}
// CHECK-NEXT:        return %[[DW]]

// -----

// An op of the backward pass has two results: one goes to another stage, the
// other is a part of a sum that the weight pass reads in each micro-batch.

#mesh = #dtc.mesh<pp=2, dp=1, mb=1>
#r = #dtc.layout<#mesh>
#mb0 = #dtc.layout<#mesh, mb: split(0)>
#mb1 = #dtc.layout<#mesh, mb: split(1)>
#each = #dtc.layout<#mesh, mb: each>
#part = #dtc.layout<#mesh, mb: partial(sum)>
module @parts {
  func.func @step(%x: tensor<8x2xf32, #mb0> {dtc.input = "x", dtc.kind = "input"}, %b: tensor<1x8xf32, #r> {dtc.parameter = "b"}, %a: tensor<2x1xf32, #r> {dtc.parameter = "a"})
      -> (tensor<1x8xf32, #r> {dtc.gradient = "b"}, tensor<f64, #r> {dtc.output = "grad_norm"}) {
    %t = dtc.transpose %x [1, 0] : (tensor<8x2xf32, #mb0>) -> tensor<2x8xf32, #mb1>
    %h = dtc.mul %t, %a : (tensor<2x8xf32, #mb1>, tensor<2x1xf32, #r>) -> tensor<2x8xf32, #mb1>
    %h1 = dtc.boundary %h from 0 to 1 : tensor<2x8xf32, #mb1>
    %all = dtc.concat %h1, %b axis 0 : (tensor<2x8xf32, #mb1>, tensor<1x8xf32, #r>) -> tensor<3x8xf32, #each>
    %g:2 = dtc.split %all axis 0 : (tensor<3x8xf32, #each>) -> (tensor<2x8xf32, #each>, tensor<1x8xf32, #part>)
    %gb = dtc.neg %g#1 {dtc.per_microbatch} : (tensor<1x8xf32, #part>) -> tensor<1x8xf32, #part>
    %sum = dtc.sum_microbatches %gb : tensor<1x8xf32, #part> -> tensor<1x8xf32, #r>
    %gh = dtc.boundary %g#0 from 1 to 0 : tensor<2x8xf32, #each>
    %q = dtc.sum_squares %gh : (tensor<2x8xf32, #each>) -> tensor<f64, #part>
    %n = dtc.sum_microbatches %q : tensor<f64, #part> -> tensor<f64, #r>
    return %sum, %n : tensor<1x8xf32, #r>, tensor<f64, #r>
  }
}

// CHECK-LABEL: module @parts
// CHECK:         module @stage1
// CHECK:           func.func private @backward({{.*}} -> (tensor<2x8xf32, #replicated> {dtc.value = {{[0-9]+}} : i64}, tensor<1x8xf32, #replicated> {dtc.value = [[PART:[0-9]+]] : i64})
// CHECK:           func.func private @weight(%{{.*}}: tensor<1x8xf32, #replicated> {dtc.value = [[PART]] : i64})
