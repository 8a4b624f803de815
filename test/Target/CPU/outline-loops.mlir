// RUN: dtc-opt %s --dtc-outline-loops | FileCheck %s
// RUN: dtc-opt %s --dtc-lower-to-linalg --cse --dtc-lower-kernels='vector-bits=256 least-work=0' --canonicalize --cse --dtc-outline-loops | FileCheck %s --check-prefix=DIVIDED

// CHECK: func.func private @copy_part0(%[[FIRST:.*]]: index, %[[END:.*]]: index, %[[X:.*]]: memref<64xf32>, %[[Y:.*]]: memref<64xf32>) attributes {dtc.work = 512 : i64}
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %[[ONE]]
// CHECK-NEXT: %[[AT:.*]] = arith.muli %[[I]], %[[EIGHT]] : index
// CHECK-NEXT: %[[V:.*]] = vector.load %[[X]][%[[AT]]]
// CHECK-NEXT: vector.store %[[V]], %[[Y]][%[[AT]]]
// CHECK: func.func @copy(%[[A:.*]]: memref<64xf32>, %[[B:.*]]: memref<64xf32>)
// CHECK: call @copy_part0(%c0, %c8, %[[A]], %[[B]])
// CHECK-NEXT: return
func.func @copy(%x: memref<64xf32>, %y: memref<64xf32>) attributes {dtc.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %at = arith.muli %i, %c8 : index
    %v = vector.load %x[%at] : memref<64xf32>, vector<8xf32>
    vector.store %v, %y[%at] : memref<64xf32>, vector<8xf32>
    scf.reduce
  } {dtc.work = 512 : i64}
  return
}

// A nest without rows: parts are vectors of the columns, the last three columns
// come after them.
// DIVIDED: func.func private @exp_part0(%{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<67xf32>, %[[Y:.*]]: memref<67xf32>)
// DIVIDED: scf.for
// DIVIDED: scf.for
// DIVIDED: math.exp %{{.*}} : vector<8xf32>
// DIVIDED: func.func @exp(
// DIVIDED: call @exp_part0(%c0, %c8,
// DIVIDED: math.exp %{{.*}} : vector<3xf32>
func.func @exp(%x: tensor<67xf32>) -> tensor<67xf32> attributes {dtc.kernel} {
  %0 = dtc.exp %x : (tensor<67xf32>) -> tensor<67xf32>
  return %0 : tensor<67xf32>
}

// Rows that keep values between their loops: each part has scratch of its own.
// DIVIDED: func.func private @softmax_part0(%{{.*}}: index, %{{.*}}: index,
// DIVIDED: scf.for %[[PART:[a-z0-9]+]] =
// DIVIDED: %[[OFFSET:.*]] = arith.muli %[[PART]], %c512
// DIVIDED: memref.view %{{.*}}[%[[OFFSET]]]
// DIVIDED: func.func @softmax(
// DIVIDED-SAME: dtc.scratch = 2048 : i64
// DIVIDED: call @softmax_part0(%c0, %c4,
func.func @softmax(%x: tensor<4x128xf32>) -> tensor<4x128xf32> attributes {dtc.kernel} {
  %0 = dtc.softmax %x : (tensor<4x128xf32>) -> tensor<4x128xf32>
  return %0 : tensor<4x128xf32>
}

// Sums over rows: parts have sums of their own, which are added in their order.
// DIVIDED: func.func private @bias_grad_part0(
// DIVIDED: vector.store %{{.*}} : memref<8xf64>, vector<8xf64>
// DIVIDED: func.func @bias_grad(
// DIVIDED-SAME: dtc.scratch = 1024 : i64
// DIVIDED: call @bias_grad_part0(%c0, %c16,
// DIVIDED: scf.for %{{.*}} = %c1 to %c16 step %c1 iter_args
// DIVIDED-NEXT: arith.muli
// DIVIDED: arith.addf %{{.*}} : vector<8xf64>
// DIVIDED: arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
func.func @bias_grad(%x: tensor<64x8xf32>) -> tensor<1x8xf32> attributes {dtc.kernel} {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<64x8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// Sums of all columns: parts of these have sums of their own, added in their
// order; the last three columns are added to the first.
// DIVIDED: func.func private @total_part0(%{{.*}}: index, %{{.*}}: index,
// DIVIDED: math.sqrt %{{.*}} : vector<4xf64>
// DIVIDED-COUNT-2: memref.store %{{.*}}, %{{.*}} : memref<1xf64>
// DIVIDED: func.func @total(
// DIVIDED-SAME: dtc.scratch = 2048 : i64
// DIVIDED: call @total_part0(%c0, %c16,
// DIVIDED: math.sqrt %{{.*}} : vector<3xf64>
// DIVIDED: scf.for %{{.*}} = %c1 to %c16 step %c1
// DIVIDED: scf.for %{{.*}} = %c1 to %c16 step %c1
func.func @total(%x: tensor<67xf64>, %y: tensor<67xf64>) -> (tensor<67xf64>, tensor<f64>, tensor<f64>) attributes {dtc.kernel} {
  %0 = dtc.sqrt %x : (tensor<67xf64>) -> tensor<67xf64>
  %1 = dtc.sum_squares %x : (tensor<67xf64>) -> tensor<f64>
  %2 = dtc.sum_squares %y : (tensor<67xf64>) -> tensor<f64>
  return %0, %1, %2 : tensor<67xf64>, tensor<f64>, tensor<f64>
}

// Sums over long rows: by rows if there are 4 parts of 32, each with sums of its
// own, else by columns.
// DIVIDED: func.func private @many_rows_part0(
// DIVIDED: func.func @many_rows(
// DIVIDED-SAME: dtc.scratch = 8192 : i64
// DIVIDED: call @many_rows_part0(%c0, %c4,
func.func @many_rows(%x: tensor<128x256xf32>) -> tensor<1x256xf32> attributes {dtc.kernel} {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<128x256xf32>) -> tensor<1x256xf32>
  return %0 : tensor<1x256xf32>
}

// DIVIDED: func.func private @few_rows_part0(
// DIVIDED: func.func @few_rows(
// DIVIDED: call @few_rows_part0(%c0, %c32,
func.func @few_rows(%x: tensor<64x256xf32>) -> tensor<1x256xf32> attributes {dtc.kernel} {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<64x256xf32>) -> tensor<1x256xf32>
  return %0 : tensor<1x256xf32>
}

// Sums that would be too large for each part of the rows.
// DIVIDED: func.func private @large_sums_part0(
// DIVIDED: func.func @large_sums(
// DIVIDED: call @large_sums_part0(%c0, %c64,
func.func @large_sums(%x: tensor<4x1024x768xf32>) -> tensor<1x1024x768xf32> attributes {dtc.kernel} {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<4x1024x768xf32>) -> tensor<1x1024x768xf32>
  return %0 : tensor<1x1024x768xf32>
}
