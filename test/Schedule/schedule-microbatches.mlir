// RUN: dtc-opt %s --dtc-schedule-microbatches=schedule=1f1b | FileCheck %s --check-prefixes=CHECK,1F1B
// RUN: dtc-opt %s --dtc-schedule-microbatches=schedule=zb-h1 | FileCheck %s --check-prefixes=CHECK,1F1B
// RUN: dtc-opt %s --dtc-schedule-microbatches=schedule=gpipe | FileCheck %s --check-prefixes=CHECK,GPIPE
// RUN: dtc-opt %s --dtc-schedule-microbatches="schedule=gpipe rounds=2" | FileCheck %s --check-prefix=ROUNDS
// RUN: not dtc-opt %s --dtc-schedule-microbatches=rounds=3 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not dtc-opt %s --dtc-schedule-microbatches=schedule=zigzag 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: unknown schedule 'zigzag', expected gpipe, 1f1b, interleaved, zb-h1 or a file
// UNEVEN: error: has 4 micro-batches, expected a multiple of 3 rounds

// Two rounds of gpipe: activations of two micro-batches at most, one sum of
// gradients, one update.
// ROUNDS-LABEL: module @stage0
// ROUNDS:       func.func @plan(
// ROUNDS-SAME:    attributes {dtc.rounds = 2 : i64, dtc.schedule = "gpipe"}
// ROUNDS:         dtc.run @forward({{.*}}) microbatch 0
// ROUNDS:         dtc.run @forward({{.*}}) microbatch 1
// ROUNDS:         %[[Z:.*]] = dtc.zero
// ROUNDS-NEXT:    %[[G0:.*]] = dtc.run @weight({{.*}}, %[[Z]]) microbatch 0
// ROUNDS:         %[[G1:.*]] = dtc.run @weight({{.*}}, %[[G0]]) microbatch 1
// ROUNDS:         dtc.run @forward({{.*}}) microbatch 2
// ROUNDS-NEXT:    dtc.send {{.*}} to 1 tag 2
// ROUNDS:         dtc.run @forward({{.*}}) microbatch 3
// ROUNDS-NOT:     dtc.zero
// ROUNDS:         %[[G2:.*]] = dtc.run @weight({{.*}}, %[[G1]]) microbatch 2
// ROUNDS:         %[[G3:.*]] = dtc.run @weight({{.*}}, %[[G2]]) microbatch 3
// ROUNDS:         dtc.run @update({{.*}}, %[[G3]], {{.*}})

#mesh = #dtc.mesh<pp=2, dp=1, mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>

// CHECK-LABEL: module @stage0
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @forward(%x: tensor<2x4xf32, #r> {dtc.value = 0 : i64}, %w: tensor<4xf32, #r> {dtc.value = 1 : i64})
      -> (tensor<2x4xf32, #r> {dtc.value = 2 : i64}) attributes {dtc.phase = #dtc.phase<forward>} {
    %0 = dtc.mul %x, %w : (tensor<2x4xf32, #r>, tensor<4xf32, #r>) -> tensor<2x4xf32, #r>
    return %0 : tensor<2x4xf32, #r>
  }
  func.func private @weight(%x: tensor<2x4xf32, #r> {dtc.value = 0 : i64}, %dy: tensor<2x4xf32, #r> {dtc.value = 4 : i64},
                            %acc: tensor<1x4xf32, #r> {dtc.update = 0 : i64, dtc.value = 5 : i64})
      -> (tensor<1x4xf32, #r> {dtc.value = 5 : i64}) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.mul %x, %dy : (tensor<2x4xf32, #r>, tensor<2x4xf32, #r>) -> tensor<2x4xf32, #r>
    %1 = dtc.reduce_sum %0 axes [0] : (tensor<2x4xf32, #r>) -> tensor<1x4xf32, #r>
    %2 = dtc.accumulate %1 into %acc : tensor<1x4xf32, #r>
    return %2 : tensor<1x4xf32, #r>
  }
  func.func private @update(%w: tensor<4xf32, #r> {dtc.update = 0 : i64, dtc.value = 1 : i64}, %g: tensor<1x4xf32, #r> {dtc.value = 5 : i64},
                            %lr: tensor<f64, #r> {dtc.value = 9 : i64})
      -> (tensor<4xf32, #r> {dtc.value = 6 : i64}) attributes {dtc.phase = #dtc.phase<update>} {
    %0 = dtc.reshape %g : (tensor<1x4xf32, #r>) -> tensor<4xf32, #r>
    %1 = dtc.sgd %w, %0, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32, #r>, tensor<4xf32, #r>, tensor<f64, #r>) -> tensor<4xf32, #r>
    return %1 : tensor<4xf32, #r>
  }
  func.func private @plan(tensor<8x4xf32, #b> {dtc.input = "x", dtc.value = 0 : i64}, tensor<f64, #r> {dtc.input = "lr", dtc.value = 9 : i64},
                          tensor<4xf32, #r> {dtc.parameter = "w", dtc.value = 1 : i64})
      -> (tensor<4xf32, #r> {dtc.parameter = "w", dtc.value = 6 : i64}, tensor<1x4xf32, #r> {dtc.gradient = "w", dtc.value = 5 : i64})
      attributes {dtc.sends = [{channel = 0 : i64, phase = #dtc.phase<forward>, stage = 1 : i64, type = tensor<2x4xf32, #r>, value = 2 : i64},
                               {channel = 1 : i64, phase = #dtc.phase<prologue>, stage = 1 : i64, type = tensor<4xf32, #r>, value = 1 : i64}],
                  dtc.recvs = [{channel = 2 : i64, phase = #dtc.phase<backward>, stage = 1 : i64, type = tensor<2x4xf32, #r>, value = 4 : i64}]}
}

// The parameter crosses before all micro-batches, tag 4 = channel 1 x 4. Its
// argument is overwritten by the update, so the send is waited for before it.
// CHECK:       func.func @plan(%[[X:[a-z0-9]+]]: tensor<8x4xf32, #mb> {dtc.input = "x"}, %[[LR:[a-z0-9]+]]: tensor<f64, #replicated> {dtc.input = "lr"},
// CHECK-SAME:      %[[W:[a-z0-9]+]]: tensor<4xf32, #replicated> {dtc.parameter = "w", dtc.update = 0 : i64})
// CHECK-SAME:      -> (tensor<4xf32, #replicated> {dtc.parameter = "w"}, tensor<1x4xf32, #replicated> {dtc.gradient = "w"})
// CHECK-SAME:      attributes {dtc.schedule = "{{gpipe|1f1b|zb-h1}}"} {
// CHECK-NEXT:    %[[SENT_W:.*]] = dtc.send %[[W]] to 1 tag 4
// CHECK-NEXT:    %[[X0:.*]] = dtc.microbatch %[[X]][0]
// CHECK-NEXT:    %[[Y0:.*]] = dtc.run @forward(%[[X0]], %[[W]]) microbatch 0
// CHECK-NEXT:    %[[SENT_Y0:.*]] = dtc.send %[[Y0]] to 1 tag 0
// CHECK-NEXT:    %[[X1:.*]] = dtc.microbatch %[[X]][1]
// CHECK-NEXT:    %[[Y1:.*]] = dtc.run @forward(%[[X1]], %[[W]]) microbatch 1
// CHECK-NEXT:    dtc.send %[[Y1]] to 1 tag 1

// The last stage of two holds one micro-batch, this one two. zb-h1 delays no W
// of the first stage, and the last has none here. An activation has arrived
// when its gradient comes; that ends the send.
// 1F1B-NEXT:     %[[D0:.*]] = dtc.recv from 1 tag 8
// 1F1B-NEXT:     dtc.wait %[[D0]] :
// 1F1B-NEXT:     dtc.wait %[[SENT_Y0]] :
// 1F1B-NEXT:     %[[Z:.*]] = dtc.zero
// 1F1B-NEXT:     %[[G0:.*]] = dtc.run @weight(%[[X0]], %[[D0]], %[[Z]]) microbatch 0
// 1F1B:          dtc.run @forward({{.*}}) microbatch 2
// 1F1B-NEXT:     dtc.send {{.*}} to 1 tag 2
// 1F1B:          dtc.run @weight({{.*}}, %[[G0]]) microbatch 1
// 1F1B:          dtc.run @forward({{.*}}) microbatch 3
// 1F1B:          dtc.run @weight({{.*}}) microbatch 2
// 1F1B:          %[[G:.*]] = dtc.run @weight({{.*}}) microbatch 3

// GPIPE:         dtc.run @forward({{.*}}) microbatch 2
// GPIPE-NEXT:    dtc.send {{.*}} to 1 tag 2
// GPIPE:         dtc.run @forward({{.*}}) microbatch 3
// GPIPE-NEXT:    dtc.send {{.*}} to 1 tag 3
// GPIPE:         dtc.run @weight({{.*}}) microbatch 0
// GPIPE:         dtc.run @weight({{.*}}) microbatch 1
// GPIPE:         dtc.run @weight({{.*}}) microbatch 2
// GPIPE:         %[[G:.*]] = dtc.run @weight({{.*}}) microbatch 3

// CHECK-NEXT:    dtc.wait %[[SENT_W]] :
// CHECK-NEXT:    %[[W1:.*]] = dtc.run @update(%[[W]], %[[G]], %[[LR]])
// CHECK-NEXT:    return %[[W1]], %[[G]]

// ROUNDS-LABEL: module @stage1

// CHECK-LABEL: module @stage1
module @stage1 attributes {dtc.stage = 1 : i64} {
  func.func private @backward(%y: tensor<2x4xf32, #r> {dtc.value = 3 : i64}, %w: tensor<4xf32, #r> {dtc.value = 7 : i64})
      -> (tensor<2x4xf32, #r> {dtc.value = 8 : i64}) attributes {dtc.phase = #dtc.phase<backward>} {
    %0 = dtc.mul %y, %w : (tensor<2x4xf32, #r>, tensor<4xf32, #r>) -> tensor<2x4xf32, #r>
    return %0 : tensor<2x4xf32, #r>
  }
  func.func private @plan(tensor<f64, #r> {dtc.input = "lr", dtc.value = 9 : i64})
      attributes {dtc.sends = [{channel = 2 : i64, phase = #dtc.phase<backward>, stage = 0 : i64, type = tensor<2x4xf32, #r>, value = 8 : i64}],
                  dtc.recvs = [{channel = 0 : i64, phase = #dtc.phase<forward>, stage = 0 : i64, type = tensor<2x4xf32, #r>, value = 3 : i64},
                               {channel = 1 : i64, phase = #dtc.phase<prologue 1>, stage = 0 : i64, type = tensor<4xf32, #r>, value = 7 : i64}]}
}

// A gradient has arrived when the next one is sent; the last one at the end.
// CHECK:       func.func @plan(
// CHECK-NEXT:    %[[P:.*]] = dtc.recv from 0 tag 4
// CHECK-NEXT:    dtc.wait %[[P]] :
// CHECK-NEXT:    %[[Y0:.*]] = dtc.recv from 0 tag 0
// CHECK-NEXT:    dtc.wait %[[Y0]] :
// 1F1B-NEXT:     %[[D0:.*]] = dtc.run @backward(%[[Y0]], {{.*}}) microbatch 0
// 1F1B-NEXT:     %[[SENT_D0:.*]] = dtc.send %[[D0]] to 0 tag 8
// 1F1B-NEXT:     %[[Y1:.*]] = dtc.recv from 0 tag 1
// 1F1B-NEXT:     dtc.wait %[[Y1]] :
// 1F1B-NEXT:     %[[D1:.*]] = dtc.run @backward(%[[Y1]], {{.*}}) microbatch 1
// 1F1B-NEXT:     %[[SENT_D1:.*]] = dtc.send %[[D1]] to 0 tag 9
// 1F1B-NEXT:     dtc.wait %[[SENT_D0]] :
// GPIPE-NEXT:    dtc.recv from 0 tag 1
// GPIPE-NEXT:    dtc.wait
// GPIPE-NEXT:    dtc.recv from 0 tag 2
// GPIPE-NEXT:    dtc.wait
// GPIPE-NEXT:    dtc.recv from 0 tag 3
// GPIPE-NEXT:    dtc.wait
// GPIPE-NEXT:    dtc.run @backward(%[[Y0]], {{.*}}) microbatch 0
// CHECK:         %[[D3:.*]] = dtc.run @backward({{.*}}) microbatch 3
// CHECK-NEXT:    %[[SENT_D3:.*]] = dtc.send %[[D3]] to 0 tag 11
// CHECK-NEXT:    dtc.wait {{.*}}
// CHECK-NEXT:    dtc.wait %[[SENT_D3]] :
// CHECK-NEXT:    return

// The last gradient of a round has arrived when the next round begins.
// ROUNDS:         %[[D1:.*]] = dtc.run @backward({{.*}}) microbatch 1
// ROUNDS-NEXT:    %[[SENT_D1:.*]] = dtc.send %[[D1]] to 0 tag 9
// ROUNDS-NEXT:    dtc.wait {{.*}}
// ROUNDS-NEXT:    %[[Y2:.*]] = dtc.recv from 0 tag 2
// ROUNDS-NEXT:    dtc.wait %[[Y2]] :
// ROUNDS-NEXT:    dtc.wait %[[SENT_D1]] :
