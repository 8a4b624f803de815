// RUN: dtc-opt %s --dtc-choose-cuts=stages=2 --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-choose-cuts="stages=2 cut=uniform" --split-input-file | FileCheck %s --check-prefix=UNIFORM
// RUN: dtc-opt %s --dtc-choose-cuts="stages=2 cut=parameters" --split-input-file | FileCheck %s --check-prefix=BYTES
// RUN: dtc-opt %s --dtc-choose-cuts="stages=2 cut=second" --split-input-file | FileCheck %s --check-prefix=NAMED
// RUN: dtc-opt %s --dtc-choose-cuts --split-input-file | FileCheck %s --check-prefix=ONE

// Two residual blocks: the cut falls where one value crosses, although inside
// a block it could balance as well.

// CHECK-LABEL: module @residual
// CHECK: dtc.matmul {{.*}}dtc.stage = 0
// CHECK: dtc.relu {{.*}}dtc.stage = 0
// CHECK: dtc.matmul {{.*}}dtc.stage = 0
// CHECK: dtc.add {{.*}}dtc.stage = 0
// CHECK: dtc.matmul {{.*}}dtc.stage = 1
// CHECK: dtc.relu {{.*}}dtc.stage = 1
// CHECK: dtc.matmul {{.*}}dtc.stage = 1
// CHECK: dtc.add {{.*}}dtc.stage = 1
// ONE-LABEL: module @residual
// ONE-COUNT-8: dtc.stage = 0
module @residual {
  func.func @forward(%x: tensor<64x64xf32> {dtc.input = "x"}, %e: tensor<64x64xf32> {dtc.parameter = "e"},
                     %a: tensor<64x64xf32> {dtc.parameter = "a"}, %b: tensor<64x64xf32> {dtc.parameter = "b"},
                     %c: tensor<64x64xf32> {dtc.parameter = "c"}) -> (tensor<64x64xf32> {dtc.output = "y"}) {
    %0 = dtc.matmul %x, %e : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = dtc.relu %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = dtc.matmul %1, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = dtc.add %0, %2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %4 = dtc.matmul %3, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("second")
    %5 = dtc.relu %4 : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %6 = dtc.matmul %5, %c : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %7 = dtc.add %3, %6 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %7 : tensor<64x64xf32>
  }
}

// -----

// Values that depend on inputs alone have no stage; the transposed weight
// belongs to its user. By operations the wide matmul stands alone, by number of
// ops the graph is halved, by parameters the table stands alone.

// CHECK-LABEL: module @sides
// CHECK: dtc.compare
// CHECK-NOT: dtc.stage
// CHECK: dtc.cast
// CHECK-NOT: dtc.stage
// CHECK: dtc.transpose {{.*}} {dtc.stage = 1 : i64}
// CHECK: dtc.gather {{.*}} {dtc.stage = 0 : i64}
// CHECK: dtc.mul {{.*}} {dtc.stage = 0 : i64}
// CHECK: dtc.matmul {{.*}} {dtc.stage = 1 : i64}
// CHECK: dtc.relu {{.*}} {dtc.stage = 1 : i64}
// UNIFORM-LABEL: module @sides
// UNIFORM: dtc.mul {{.*}} {dtc.stage = 0 : i64}
// UNIFORM: dtc.matmul {{.*}} {dtc.stage = 1 : i64}
// BYTES-LABEL: module @sides
// BYTES: dtc.gather {{.*}} {dtc.stage = 0 : i64}
// BYTES: dtc.matmul {{.*}} {dtc.stage = 1 : i64}
// NAMED-LABEL: module @sides
// NAMED: dtc.transpose {{.*}} {dtc.stage = 0 : i64}
// NAMED: dtc.gather {{.*}} {dtc.stage = 0 : i64}
// NAMED: dtc.mul {{.*}} {dtc.stage = 0 : i64}
// NAMED: dtc.matmul {{.*}} {dtc.stage = 0 : i64}
// NAMED: dtc.relu {{.*}} {dtc.stage = 1 : i64}
module @sides {
  func.func @forward(%i: tensor<8xi64> {dtc.input = "i"}, %t: tensor<512x16xf32> {dtc.parameter = "t"},
                     %w: tensor<64x16xf32> {dtc.parameter = "w"}) -> (tensor<8x64xf32> {dtc.output = "y"}) {
    %c = dtc.constant dense<3> : tensor<i64> to tensor<i64>
    %0 = dtc.compare gt %i, %c : (tensor<8xi64>, tensor<i64>) -> tensor<8xi1>
    %1 = dtc.cast %0 : (tensor<8xi1>) -> tensor<8xf32>
    %2 = dtc.reshape %1 : (tensor<8xf32>) -> tensor<8x1xf32>
    %3 = dtc.transpose %w [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %4 = dtc.gather %t, %i : (tensor<512x16xf32>, tensor<8xi64>) -> tensor<8x16xf32>
    %5 = dtc.mul %4, %2 : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
    %6 = dtc.matmul %5, %3 : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
    %7 = dtc.relu %6 : (tensor<8x64xf32>) -> tensor<8x64xf32> loc("second")
    return %7 : tensor<8x64xf32>
  }
}

// -----

// Less crosses at the end, where nothing is left to balance.

// BYTES-LABEL: module @tail
// BYTES: dtc.matmul {{.*}}dtc.stage = 0
// BYTES: dtc.matmul {{.*}}dtc.stage = 0
// BYTES: dtc.matmul {{.*}}dtc.stage = 1
// BYTES: dtc.matmul {{.*}}dtc.stage = 1
// UNIFORM-LABEL: module @tail
// UNIFORM: dtc.matmul {{.*}}dtc.stage = 0
// UNIFORM: dtc.matmul {{.*}}dtc.stage = 0
// UNIFORM: dtc.matmul {{.*}}dtc.stage = 1
// UNIFORM: dtc.matmul {{.*}}dtc.stage = 1
module @tail {
  func.func @forward(%x: tensor<64x64xf32> {dtc.input = "x"}, %a: tensor<64x64xf32> {dtc.parameter = "a"}, %b: tensor<64x64xf32> {dtc.parameter = "b"},
                     %c: tensor<64x64xf32> {dtc.parameter = "c"}, %d: tensor<64x8xf32> {dtc.parameter = "d"}, %e: tensor<8xf32> {dtc.parameter = "e"}) -> (tensor<64x8xf32> {dtc.output = "y"}) {
    %0 = dtc.matmul %x, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = dtc.matmul %0, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = dtc.matmul %1, %c : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("second")
    %3 = dtc.matmul %2, %d : (tensor<64x64xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %4 = dtc.add %3, %e : (tensor<64x8xf32>, tensor<8xf32>) -> tensor<64x8xf32>
    return %4 : tensor<64x8xf32>
  }
}

// -----

// So little work that a byte would weigh more than a stage: a crossing counts as
// a part of a stage, and the wide matmuls are apart all the same.

// CHECK-LABEL: module @small
// CHECK: dtc.matmul {{.*}}dtc.stage = 0
// CHECK: dtc.matmul {{.*}}dtc.stage = 1
// CHECK: dtc.matmul {{.*}}dtc.stage = 1
module @small {
  func.func @forward(%x: tensor<4x64xf32> {dtc.input = "x"}, %a: tensor<64x64xf32> {dtc.parameter = "a"},
                     %b: tensor<64x64xf32> {dtc.parameter = "b"}, %c: tensor<64x2xf32> {dtc.parameter = "c"})
      -> (tensor<4x2xf32> {dtc.output = "y"}) {
    %0 = dtc.matmul %x, %a : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    %1 = dtc.matmul %0, %b : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    %2 = dtc.matmul %1, %c : (tensor<4x64xf32>, tensor<64x2xf32>) -> tensor<4x2xf32> loc("second")
    return %2 : tensor<4x2xf32>
  }
}

// -----

// Parts of one tensor stay together, although each would make half of the work.

// CHECK-LABEL: module @parts
// CHECK-COUNT-3: dtc.stage = 0
// CHECK: dtc.tanh {{.*}}dtc.stage = 1
module @parts {
  func.func @forward(%x: tensor<64x64xf32> {dtc.input = "x"},
                     %a: tensor<64x64xf32> {dtc.parameter = "w.0", dtc.part = {dim = 1 : i64, shape = array<i64: 64, 128>, start = 0 : i64, tensor = "w"}},
                     %b: tensor<64x64xf32> {dtc.parameter = "w.1", dtc.part = {dim = 1 : i64, shape = array<i64: 64, 128>, start = 64 : i64, tensor = "w"}}) -> (tensor<64x64xf32> {dtc.output = "y"}) {
    %0 = dtc.matmul %x, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = dtc.matmul %x, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = dtc.mul %0, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("second")
    %3 = dtc.tanh %2 : (tensor<64x64xf32>) -> tensor<64x64xf32>
    return %3 : tensor<64x64xf32>
  }
}
