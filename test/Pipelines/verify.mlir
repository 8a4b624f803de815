// One pass runs each check. Other tests cover the checks themselves:
// test/Training/verify-training.mlir, test/Memory/verify-memory.mlir, ...
//
// RUN: not dtc-opt %s --dtc-verify 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not dtc-opt %s --dtc-verify=invariant=training 2>&1 | FileCheck %s --check-prefix=TRAINING
// RUN: not dtc-opt %s --dtc-verify=invariant=parallel 2>&1 | FileCheck %s --check-prefix=PARALLEL
//
// A phase refuses a file of another phase.
// RUN: not dtc-opt %s --dtc-training-phase 2>&1 | FileCheck %s --check-prefix=TRAINING
// RUN: not dtc-opt %s --dtc-parallel-phase 2>&1 | FileCheck %s --check-prefix=TRAINING
// RUN: not dtc-opt %s --dtc-schedule-phase 2>&1 | FileCheck %s --check-prefix=PARALLEL

// NAMES: error: invariant is '', expected one of strategy, training, parallel, memory, communication, lowered-communication
// TRAINING: error: argument 0 is not one of dtc.input, dtc.parameter, dtc.state
// PARALLEL: error: argument 0 has no layout
func.func @step(%x: tensor<8x4xf32>) -> (tensor<8x4xf32> {dtc.output = "y"}) {
  return %x : tensor<8x4xf32>
}
