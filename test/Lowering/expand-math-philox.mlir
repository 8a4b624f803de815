// RUN: dtc-opt %s --dtc-expand-math | FileCheck %s

// Ten rounds of two products of 32 bits, then one of four words.
// CHECK-LABEL: @scalar
// CHECK: arith.shrui %{{.+}}, %{{.+}} : i64
// CHECK-COUNT-20: arith.mului_extended %{{.+}} : i32
// CHECK-NOT: arith.mului_extended
// CHECK-COUNT-3: arith.select
// CHECK-NOT: dtc.philox
func.func @scalar(%seed: i64, %step: i64, %position: i64) -> i32 {
  %w = dtc.philox %seed, %step, %position {id = 3 : i64} : (i64, i64, i64) -> i32
  return %w : i32
}

// Neighbours from a multiple of 4 on: four lanes are a block, one product a
// round.
// CHECK-LABEL: @blocks
// CHECK-COUNT-10: arith.muli %{{.+}} : vector<4xi64>
// CHECK-NOT: arith.muli {{.+}}vector
// CHECK-NOT: arith.mului_extended
func.func @blocks(%seed: i64, %step: i64, %row: index, %out: memref<64xi32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c8 {
    %start = arith.muli %row, %c64 : index
    %sum = arith.addi %start, %i : index
    %first = arith.index_cast %sum : index to i64
    %lanes = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi64>
    %b = vector.broadcast %first : i64 to vector<8xi64>
    %position = arith.addi %b, %lanes : vector<8xi64>
    %k = vector.broadcast %seed : i64 to vector<8xi64>
    %s = vector.broadcast %step : i64 to vector<8xi64>
    %w = dtc.philox %k, %s, %position {id = 3 : i64} : (vector<8xi64>, vector<8xi64>, vector<8xi64>) -> vector<8xi32>
    vector.store %w, %out[%i] : memref<64xi32>, vector<8xi32>
  }
  return
}

// Six lanes are cut from two blocks.
// CHECK-LABEL: @rest
// CHECK-COUNT-10: arith.muli %{{.+}} : vector<4xi64>
// CHECK: vector.extract_strided_slice %{{.+}} {offsets = [0], sizes = [6], strides = [1]} : vector<8xi32> to vector<6xi32>
func.func @rest(%seed: i64, %step: i64) -> vector<6xi32> {
  %position = arith.constant dense<[8, 9, 10, 11, 12, 13]> : vector<6xi64>
  %k = vector.broadcast %seed : i64 to vector<6xi64>
  %s = vector.broadcast %step : i64 to vector<6xi64>
  %w = dtc.philox %k, %s, %position {id = 3 : i64} : (vector<6xi64>, vector<6xi64>, vector<6xi64>) -> vector<6xi32>
  return %w : vector<6xi32>
}

// From any position on, or not neighbours: a block for each lane.
// CHECK-LABEL: @lanes
// CHECK-COUNT-40: arith.mului_extended %{{.+}} : vector<4xi32>
func.func @lanes(%seed: i64, %step: i64, %first: i64) -> (vector<4xi32>, vector<4xi32>) {
  %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xi64>
  %fours = arith.constant dense<[0, 4, 8, 12]> : vector<4xi64>
  %b = vector.broadcast %first : i64 to vector<4xi64>
  %position = arith.addi %b, %lanes : vector<4xi64>
  %apart = arith.addi %b, %fours : vector<4xi64>
  %k = vector.broadcast %seed : i64 to vector<4xi64>
  %s = vector.broadcast %step : i64 to vector<4xi64>
  %v = dtc.philox %k, %s, %position {id = 3 : i64} : (vector<4xi64>, vector<4xi64>, vector<4xi64>) -> vector<4xi32>
  %w = dtc.philox %k, %s, %apart {id = 3 : i64} : (vector<4xi64>, vector<4xi64>, vector<4xi64>) -> vector<4xi32>
  return %v, %w : vector<4xi32>, vector<4xi32>
}
