// A stage that ZeRO does not have. The command line refuses it earlier.

// RUN: not dtc-opt %s --dtc-flatten-parameters=zero=4 2>&1 | FileCheck %s
// CHECK: error: --zero is 4, expected 0, 1, 2 or 3
func.func @step() {
  return
}
