// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 pp=2 microbatches=2" | FileCheck %s
// RUN: dtc-opt %s --dtc-assign-mesh="microbatches=2" | FileCheck %s --check-prefix=ONE
// RUN: dtc-opt %s --dtc-assign-mesh="microbatches=2 accumulate=4" | FileCheck %s --check-prefix=ROUNDS
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 tp=2 order=tp,dp" | FileCheck %s --check-prefix=ORDER
// RUN: dtc-opt %s --dtc-assign-mesh="dp=4 pp=2 order=tp,dp,pp" | FileCheck %s --check-prefix=NOTP
// RUN: dtc-opt %s --dtc-assign-mesh="dp=8 hsdp=2 order=shard,dp" | FileCheck %s --check-prefix=SHARD
// RUN: not dtc-opt %s --dtc-assign-mesh="dp=4 pp=2 order=dp" 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: not dtc-opt %s --dtc-assign-mesh="dp=4 order=dp,dp" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not dtc-opt %s --dtc-assign-mesh="dp=2 microbatches=3 accumulate=4" 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not dtc-opt %s --dtc-assign-mesh="dp=4294967296 accumulate=4294967296" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not dtc-opt %s --dtc-assign-mesh="dp=3 microbatches=4" 2>&1 | FileCheck %s --check-prefix=BATCH

// CHECK: func @step(
// CHECK-SAME: tensor<32x4xf32> {dtc.input = "x", dtc.kind = "input", dtc.layout = #dtc.layout<[[MESH:#dtc.mesh<pp=2, dp=4, mb=2>]], mb: split(0), dp: split(0)>}
// CHECK-SAME: tensor<32xi64> {dtc.input = "labels", dtc.kind = "label", dtc.layout = #dtc.layout<[[MESH]], mb: split(0), dp: split(0)>}
// CHECK-SAME: tensor<f64> {dtc.input = "lr", dtc.kind = "lr", dtc.layout = #dtc.layout<[[MESH]]>}
// CHECK-SAME: tensor<4x4xf32> {dtc.layout = #dtc.layout<[[MESH]]>, dtc.parameter = "w"}

// No axis of ranks of size 1 in layouts, but always the micro-batches.
// ONE: #dtc.layout<#{{.*}}, mb: split(0)>

// The time axis has the micro-batches of all rounds.
// ROUNDS: #dtc.mesh<pp=1, dp=1, mb=8>

// Axes of one rank may be named or not.
// ORDER: #dtc.mesh<pp=1, tp=2, dp=4, mb=1>
// NOTP:  #dtc.mesh<dp=4, pp=2, mb=1>
// SHARD: #dtc.mesh<pp=1, shard=2, dp=4, mb=1>

// LESS: error: order of the mesh's axes is 'dp', expected each of pp = 2, dp = 4, tp = 1 once; those of size 1 may be left out
// TWICE: error: order of the mesh's axes is 'dp,dp', expected each of pp = 1, dp = 4, tp = 1 once; those of size 1 may be left out
// UNEVEN: error: batch of 32 samples (input 'x') does not divide into dp x microbatches x accumulate = 2 x 3 x 4 parts; a batch of 24 or 48 would
// MANY: error: dp x microbatches x accumulate = 4294967296 x 1 x 4294967296 parts of a batch are too many
// BATCH: error: batch of 32 samples (input 'x') does not divide into dp x microbatches = 3 x 4 parts; a batch of 24 or 36 would
func.func @step(%x: tensor<32x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %t: tensor<32xi64> {dtc.input = "labels", dtc.kind = "label"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %w: tensor<4x4xf32> {dtc.parameter = "w"}) {
  return
}
