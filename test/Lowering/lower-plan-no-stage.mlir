// RUN: not dtc-opt %s --dtc-lower-phase 2>&1 | FileCheck %s

// CHECK: error: has no module with 'dtc.stage': expected plans, as the schedule phase writes
module {
  func.func @forward(%x: tensor<4xf32> {dtc.input = "x"}) -> (tensor<4xf32> {dtc.output = "y"}) {
    return %x : tensor<4xf32>
  }
}
