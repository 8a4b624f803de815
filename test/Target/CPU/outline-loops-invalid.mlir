// RUN: dtc-opt %s --dtc-outline-loops --split-input-file --verify-diagnostics

func.func @scaled(%x: memref<8xf32>, %factor: f32) attributes {dtc.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{uses a value that is neither a buffer nor a constant, expected those alone}}
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %factor, %x[%i] : memref<8xf32>
    scf.reduce
  } {dtc.work = 512 : i64}
  return
}

// -----

func.func @step_of_two(%x: memref<8xf32>) attributes {dtc.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error@+1 {{expected one loop of step 1, no reduction and 'dtc.work'}}
  scf.parallel (%i) = (%c0) to (%c2) step (%c2) {
    scf.reduce
  } {dtc.work = 512 : i64}
  return
}
