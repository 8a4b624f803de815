// RUN: dtc-opt %s --dtc-synchronize-workers="sync=every:20 workers=2" | FileCheck %s
// RUN: dtc-opt %s --dtc-synchronize-workers="sync=every:20,outer=nesterov:0.7:0.9,fragments=2 workers=2" | FileCheck %s --check-prefix=OUTER
// RUN: dtc-opt %s --dtc-synchronize-workers="sync=gossip:ring workers=3" | FileCheck %s --check-prefix=RING
// RUN: dtc-opt %s --dtc-synchronize-workers="sync=gossip:one-peer workers=4" | FileCheck %s --check-prefix=PEER
// RUN: dtc-opt %s --dtc-synchronize-workers="sync=gossip:ring workers=2" --dtc-assign-mesh="dp=2 workers" --dtc-propagate-layouts --dtc-insert-collectives --dtc-split-stages | FileCheck %s --check-prefix=SPLIT
// RUN: dtc-opt %s --dtc-synchronize-workers="sync=gossip:one-peer workers=2" | FileCheck %s --check-prefix=TWO
// RUN: not dtc-opt %s --dtc-synchronize-workers="sync=gossip:star workers=2" 2>&1 | FileCheck %s --check-prefix=NAME

// CHECK-LABEL: func @step
// CHECK-SAME: tensor<8xf32> {dtc.parameter = "w", dtc.program = "sync", dtc.turn = array<i64: 20, 0>}
// CHECK-SAME: tensor<6xf32> {dtc.parameter = "v", dtc.program = "sync", dtc.turn = array<i64: 20, 0>}
// CHECK-SAME: tensor<8xf32> {dtc.parameter = "w", dtc.program = "average"}
// CHECK-SAME: tensor<6xf32> {dtc.parameter = "v", dtc.program = "average"}
// CHECK: %[[T:.*]] = dtc.terms %arg1 over "dp" : tensor<8xf32> -> tensor<2x8xf32>
// CHECK: %[[S:.*]] = dtc.reduce_sum %[[T]] axes [0]
// CHECK: %[[A:.*]] = dtc.reshape %[[S]] {dtc.split_dims = {dp = -1 : i64}}
// CHECK: %[[M:.*]] = dtc.div %[[A]]
// CHECK: %[[B:.*]] = dtc.broadcast %[[M]] : (tensor<8xf32>) -> tensor<2x8xf32>
// CHECK: dtc.own_row %[[B]] over "dp" : tensor<2x8xf32> -> tensor<8xf32>

// The larger half of the parameters has another turn. Its state is shared.
// OUTER: dtc.optional, dtc.shared, dtc.state = "w.anchor"
// OUTER: {dtc.parameter = "w", dtc.program = "sync1", dtc.turn = array<i64: 20, 10>}
// OUTER-SAME: {dtc.program = "sync1", dtc.state = "w.anchor", dtc.turn = array<i64: 20, 10>}
// OUTER-SAME: {dtc.program = "sync1", dtc.state = "w.outer_momentum", dtc.turn = array<i64: 20, 10>}
// OUTER-SAME: {dtc.parameter = "v", dtc.program = "sync2", dtc.turn = array<i64: 20, 0>}
// OUTER: %[[D:.*]] = dtc.sub %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>)
// OUTER: %[[U:.*]] = dtc.add %{{.*}}, %[[D]]

// All parameters are mixed at once.
// RING-NOT: dtc.program = "sync
// RING: %[[W:.*]] = dtc.concat %{{.*}} -> tensor<1x14xf32>
// RING: %[[T:.*]] = dtc.terms %[[W]] over "dp" : tensor<1x14xf32> -> tensor<3x1x14xf32>
// RING: dtc.permute_rows %[[T]] {sources = array<i64: 2, 0, 1>}
// RING: dtc.permute_rows %[[T]] {sources = array<i64: 1, 2, 0>}
// RING: %[[N:.*]] = dtc.own_row
// RING: %[[P:.*]] = dtc.slice %[[N]] axis 1 from {{.*}} {view}
// RING: dtc.sub %{{.*}}, %arg

// The first step, after which programs of turn 1 run, mixes with the next worker.
// PEER: dtc.program = "sync0", dtc.turn = array<i64: 2, 0>
// PEER: dtc.program = "sync1", dtc.turn = array<i64: 2, 1>
// PEER: dtc.permute_rows {{.*}} {sources = array<i64: 2, 3, 0, 1>}
// PEER: dtc.permute_rows {{.*}} {sources = array<i64: 1, 2, 3, 0>}

// Two workers have one neighbour, after each step.
// TWO: {dtc.parameter = "w", dtc.program = "sync0", dtc.turn = array<i64: 1, 0>}

// The exchange needs no result of the step, and both neighbours of two workers are one.
// SPLIT: module @stage0
// SPLIT: func.func private @prologue
// SPLIT: dtc.collective_permute %{{.*}} over ["dp"] sources [1, 0]
// SPLIT-NOT: dtc.collective_permute
// SPLIT: module @average0 attributes {dtc.program = "average", dtc.stage = 0 : i64}
// SPLIT: dtc.all_reduce

// NAME: error: --sync is 'gossip:star', expected gossip:ring, torus, exponential or one-peer

func.func @step(%lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %w: tensor<8xf32> {dtc.parameter = "w"}, %v: tensor<6xf32> {dtc.parameter = "v"})
    -> (tensor<8xf32> {dtc.parameter = "w"}, tensor<6xf32> {dtc.parameter = "v"},
        tensor<8xf32> {dtc.gradient = "w"}, tensor<6xf32> {dtc.gradient = "v"}) {
  %g = dtc.mul %w, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %h = dtc.mul %v, %v : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %w1 = dtc.sgd %w, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> tensor<8xf32>
  %v1 = dtc.sgd %v, %h, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<6xf32>, tensor<6xf32>, tensor<f64>) -> tensor<6xf32>
  return %w1, %v1, %g, %h : tensor<8xf32>, tensor<6xf32>, tensor<8xf32>, tensor<6xf32>
}
