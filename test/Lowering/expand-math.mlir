// RUN: dtc-opt %s --dtc-expand-math | FileCheck %s

// CHECK-LABEL: func.func @single
// CHECK-NOT: math.exp
// CHECK-NOT: math.log
// CHECK-NOT: math.tanh
// CHECK-NOT: math.erf
// CHECK-NOT: math.sin
// CHECK-NOT: math.cos
// CHECK-NOT: math.atan
// CHECK: math.fma
// CHECK: return
func.func @single(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %0 = math.exp %x : vector<8xf32>
  %1 = math.log %x : vector<8xf32>
  %2 = math.tanh %x : vector<8xf32>
  %3 = math.erf %x : vector<8xf32>
  %4 = math.sin %x : vector<8xf32>
  %5 = math.cos %x : vector<8xf32>
  %6 = math.atan %x : vector<8xf32>
  return %0, %1, %2, %3, %4, %5, %6 : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// CHECK-LABEL: func.func @double
// CHECK: math.exp
func.func @double(%x: vector<4xf64>) -> vector<4xf64> {
  %0 = math.exp %x : vector<4xf64>
  return %0 : vector<4xf64>
}

// RUN: dtc-opt %s --dtc-expand-math=expand-double | FileCheck %s --check-prefix=DOUBLE

// Without a library.
// DOUBLE-LABEL: func.func @double
// DOUBLE-NOT: math.exp
// DOUBLE: return
// DOUBLE-LABEL: func.func @powers
// DOUBLE-NOT: math.powf
// DOUBLE: return
func.func @powers(%x: f32, %y: f32, %a: f64, %b: f64) -> (f32, f64, f64) {
  %0 = math.powf %x, %y : f32
  %1 = math.powf %a, %b : f64
  %2 = math.log %a : f64
  return %0, %1, %2 : f32, f64, f64
}

// RUN: dtc-opt %s --dtc-expand-math=has-exp2 | FileCheck %s --check-prefix=EXP2

// By 2^x, with what rounding x log2(e) leaves; between 0 and infinity.
// EXP2-LABEL: func.func @single
// EXP2: arith.maximumf
// EXP2: arith.minimumf
// EXP2: %[[H:.*]] = arith.mulf
// EXP2: %[[MINUS:.*]] = arith.negf %[[H]]
// EXP2: math.fma %{{.*}}, %{{.*}}, %[[MINUS]]
// EXP2-COUNT-2: math.fma
// EXP2: %[[POWER:.*]] = math.exp2 %[[H]]
// EXP2: arith.mulf %[[POWER]]
// EXP2-NOT: math.exp
// EXP2: return
