// RUN: dtc-opt %s --dtc-lower-to-linalg --cse --dtc-lower-kernels=vector-bits=256 --canonicalize --cse | FileCheck %s
// RUN: dtc-opt %s --dtc-lower-to-linalg --cse --dtc-lower-kernels=vector-bits=512 --canonicalize --cse | FileCheck %s --check-prefix=WIDE

// Rows of an elementwise kernel are one loop; nothing is in memory in between.
// CHECK-LABEL: func.func @gelu
// CHECK-SAME: (%[[X:.*]]: memref<1024xf32>, %[[Y:.*]]: memref<1024xf32>)
// CHECK: scf.for %[[I:.*]] = %c0 to %c1024 step %c8
// CHECK: %[[V:.*]] = vector.load %[[X]][%[[I]]] : memref<1024xf32>, vector<8xf32>
// CHECK: math.tanh %{{.*}} : vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[Y]][%[[I]]] : memref<1024xf32>, vector<8xf32>
// CHECK-NOT: scf.for
// CHECK-NOT: memref.alloc
// CHECK: return
// WIDE-LABEL: func.func @gelu
// WIDE: math.tanh %{{.*}} : vector<16xf32>
func.func @gelu(%x: tensor<8x128xf32>) -> tensor<8x128xf32> attributes {dtc.kernel} {
  %half = dtc.constant dense<0.5> : tensor<f32> to tensor<f32>
  %0 = dtc.tanh %x : (tensor<8x128xf32>) -> tensor<8x128xf32>
  %1 = dtc.mul %0, %half : (tensor<8x128xf32>, tensor<f32>) -> tensor<8x128xf32>
  return %1 : tensor<8x128xf32>
}

// A row: its maximum in four accumulators, exp into a row of scratch with its
// sum, the quotient from scratch.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: %[[S:[a-z0-9]+]]: memref<512xi8>) attributes {dtc.kernel, dtc.scratch = 512 : i64}
// CHECK: %[[ROW:.*]] = memref.view %[[S]]
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-4: arith.maxnumf %{{.*}} : vector<8xf32>
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: arith.addf %{{.*}} : vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[ROW]]
// CHECK: arith.divf %{{.*}} : f32
// CHECK: scf.for
// CHECK: vector.load %[[ROW]]
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: vector.store
func.func @softmax(%x: tensor<4x128xf32>) -> tensor<4x128xf32> attributes {dtc.kernel} {
  %0 = dtc.softmax %x : (tensor<4x128xf32>) -> tensor<4x128xf32>
  return %0 : tensor<4x128xf32>
}

// CHECK-LABEL: func.func @layer_norm
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<8xf32>
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: scf.for
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<8xf32>
func.func @layer_norm(%x: tensor<4x128xf32>, %w: tensor<128xf32>, %b: tensor<128xf32>) -> (tensor<4x128xf32>, tensor<4x1xf32>) attributes {dtc.kernel} {
  %y, %mean, %rstd = dtc.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64} : (tensor<4x128xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<4x128xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  return %y, %rstd : tensor<4x128xf32>, tensor<4x1xf32>
}

// Columns are compared with the label as vectors; rows are summed in f64.
// CHECK-LABEL: func.func @cross_entropy
// CHECK: arith.cmpi eq, %{{.*}} : vector<8xi32>
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: math.log %{{.*}} : f32
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: memref.store %{{.*}} : memref<1xf64>
func.func @cross_entropy(%z: tensor<4x128xf32>, %t: tensor<4xi64>) -> tensor<f64> attributes {dtc.kernel} {
  %0 = dtc.cross_entropy %z, %t : (tensor<4x128xf32>, tensor<4xi64>) -> tensor<f64>
  return %0 : tensor<f64>
}

// Sums over rows are kept in f64 and rounded once.
// CHECK-LABEL: func.func @bias_grad
// CHECK: %[[SUM:.*]] = memref.view %{{.*}} to memref<128xf64>
// CHECK: arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
// CHECK: arith.addf %{{.*}} : vector<8xf64>
// CHECK: arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
func.func @bias_grad(%x: tensor<64x128xf32>) -> tensor<1x128xf32> attributes {dtc.kernel} {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<64x128xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// The remainder of a row is a narrower vector.
// CHECK-LABEL: func.func @odd
// CHECK: vector.load %{{.*}} : memref<13xf32>, vector<8xf32>
// CHECK: vector.load %{{.*}} : memref<13xf32>, vector<5xf32>
func.func @odd(%x: tensor<13xf32>) -> tensor<13xf32> attributes {dtc.kernel} {
  %0 = dtc.exp %x : (tensor<13xf32>) -> tensor<13xf32>
  return %0 : tensor<13xf32>
}

// A result that overwrites an argument has no buffer of its own; booleans are
// bytes.
// CHECK-LABEL: func.func @overwrites
// CHECK-SAME: (%[[M:.*]]: memref<8xi8>, %[[A:.*]]: memref<8xf32> {dtc.update = 0 : i64})
// CHECK: %[[B:.*]] = vector.load %[[M]]
// CHECK: arith.cmpi ne, %[[B]], %{{.*}} : vector<8xi8>
// CHECK: vector.store %{{.*}}, %[[A]]
func.func @overwrites(%m: tensor<8xi1>, %a: tensor<8xf32> {dtc.update = 0 : i64}) -> tensor<8xf32> attributes {dtc.kernel} {
  %0 = dtc.cast %m : (tensor<8xi1>) -> tensor<8xf32>
  %1 = dtc.accumulate %0 into %a : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Tables are globals.
// CHECK: memref.global "private" constant @[[TABLE:.*]] : memref<4xf32> = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> {alignment = 64 : i64}
// CHECK: func.func @table
// CHECK: memref.get_global @[[TABLE]]
func.func @table(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {dtc.kernel} {
  %c = dtc.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> to tensor<4xf32>
  %0 = dtc.add %x, %c : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// If a loop only joins arguments, it copies four at a time.
// CHECK-LABEL: func.func @concat
// CHECK: scf.for
// CHECK-COUNT-4: vector.store
// CHECK-NOT: vector.store
// CHECK: scf.for
// CHECK-COUNT-2: vector.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @concat(%a: tensor<1x64xf32>, %b: tensor<1x64xf32>, %c: tensor<1x64xf32>, %d: tensor<1x64xf32>, %e: tensor<1x64xf32>) -> tensor<6x64xf32> attributes {dtc.kernel} {
  %0 = dtc.concat %a, %b, %c, %d, %e, %a axis 0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<6x64xf32>
  return %0 : tensor<6x64xf32>
}

// Values computed on the way share a loop.
// CHECK-LABEL: func.func @concat_computed
// CHECK: scf.for
// CHECK-COUNT-6: vector.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @concat_computed(%a: tensor<1x64xf32>, %b: tensor<1x64xf32>, %c: tensor<1x64xf32>, %d: tensor<1x64xf32>, %e: tensor<1x64xf32>) -> tensor<6x64xf32> attributes {dtc.kernel} {
  %0 = dtc.neg %e : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %1 = dtc.concat %a, %b, %c, %d, %e, %0 axis 0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<6x64xf32>
  return %1 : tensor<6x64xf32>
}
