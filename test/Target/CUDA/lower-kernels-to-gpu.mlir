// RUN: dtc-opt %s --dtc-lower-to-linalg --cse --dtc-lower-kernels-to-gpu --canonicalize --cse | FileCheck %s

// A thread has four columns: 16 bytes, where the memory plan promises that.
// CHECK-LABEL: gpu.func @elements_0
// CHECK-SAME: (%[[X:.*]]: memref<1048576xf32>, %[[Y:.*]]: memref<1048576xf32>) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: %[[V:.*]] = vector.load %[[X]][%[[I:.*]]] {alignment = 16 : i64} : memref<1048576xf32>, vector<4xf32>
// CHECK: math.tanh %[[V]] : vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[Y]][%[[I]]] {alignment = 16 : i64}
// CHECK: gpu.return

// A warp has a row of 768 columns, six chunks a thread, which it loads once. It
// combines maxima and sums by shuffles.
// CHECK-LABEL: gpu.func @rows_0
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-COUNT-6: vector.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: vector.load
// CHECK: math.exp
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-6: vector.store
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// A block has a row of 8192 columns: sums of warps meet in shared memory.
// CHECK-LABEL: gpu.func @long_rows_0
// CHECK-SAME: workgroup(%{{.*}}: memref<16xf32, #gpu.address_space<workgroup>>
// CHECK-SAME: known_block_size = array<i32: 512, 1, 1>
// CHECK-COUNT-4: vector.load %arg0
// CHECK: gpu.barrier
// CHECK-NOT: vector.load %arg0
// CHECK: gpu.return

// Rows of 65536 columns are loops: one finds the maximum and the sum of
// exponentials, which is multiplied when the maximum grows, one stores.
// CHECK-LABEL: gpu.func @loops_0
// CHECK: scf.for %{{.*}} -> (f32, vector<4xf32>)
// CHECK: vector.load
// CHECK: arith.maxnumf
// CHECK-COUNT-2: math.exp
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: vector.load
// CHECK: math.exp
// CHECK: vector.store
// CHECK-NOT: scf.for
// CHECK: gpu.return

// Sums over rows, in slices: a thread has four columns and the rows of a slice.
// CHECK-LABEL: gpu.func @columns_0
// CHECK: %[[PARTS:.*]] = memref.view
// CHECK: scf.for %{{.*}} -> (vector<4xf32>)
// CHECK: vector.load
// CHECK: arith.addf %{{.*}} : vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[PARTS]][%{{.*}}] {alignment = 16 : i64}
// Another launch adds what slices have, in their order.
// CHECK-LABEL: gpu.func @columns_1
// CHECK: scf.for %{{.*}} -> (f64)
// CHECK: gpu.barrier
// CHECK: gpu.return

// A block has a tile of 32 rows by 32 columns, which it reads along the rows and
// writes along the columns: neighbouring threads have neighbouring addresses.
// CHECK-LABEL: gpu.func @transpose_0
// CHECK-SAME: (%[[X:.*]]: memref<8192xf32>, %[[Y:.*]]: memref<8192xf32>)
// CHECK-SAME: workgroup(%[[TILE:[^ ]*]] : memref<1056xf32, #gpu.address_space<workgroup>>
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK: gpu.barrier
// CHECK-COUNT-4: memref.load %[[TILE]]
// CHECK-NOT: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK: gpu.return

// Additions at positions that are data: the row that each goes to, ...
// CHECK-LABEL: gpu.func @scatter_0
// CHECK-SAME: (%[[I:.*]]: memref<3000xi64>, %{{.*}}: memref<{{[0-9]+}}xi8>)
// CHECK: memref.load %[[I]]
// CHECK-NOT: scf.for
// CHECK: gpu.return
// ... positions sorted by it, within runs of 128, ...
// CHECK-LABEL: gpu.func @scatter_1
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c4 iter_args(%{{.*}} = %c0) -> (index) {
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<3000xi32>, vector<4xi32>
// CHECK: scf.yield
// CHECK-COUNT-2: memref.store
// CHECK: gpu.return
// ... which are merged, ...
// CHECK-LABEL: gpu.func @scatter_2
// CHECK: scf.for %{{.*}} = %c0 to %c24 step %c1
// CHECK-COUNT-2: memref.store
// CHECK: gpu.return
// ... sums of 32 sorted positions, of which the first may be carried, ...
// CHECK-LABEL: gpu.func @scatter_3
// CHECK-SAME: (%[[U:.*]]: memref<192000xf32>, %[[TABLE:.*]]: memref<64000xf32>, %{{.*}}: memref<{{[0-9]+}}xi8>)
// CHECK: scf.for %{{.*}} -> (index, vector<4xf32>, i1)
// CHECK: vector.load %[[U]]
// CHECK: vector.store %{{.*}}, %[[TABLE]][%{{.*}}] {alignment = 16 : i64}
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
// ... and what is carried: from 94 slices, then from 3.
// CHECK-LABEL: gpu.func @scatter_4
// CHECK: vector.load %{{.*}} {alignment = 16 : i64}
// CHECK: gpu.return
// CHECK-LABEL: gpu.func @scatter_5
// CHECK: arith.minui %{{.*}}, %c3
// CHECK: scf.for
// CHECK: gpu.return

// A table of two rows is two sums over the rows of updates.
// CHECK-LABEL: gpu.func @few_0
// CHECK: scf.for %{{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-1: vector.load
// CHECK-COUNT-2: arith.select
// CHECK-COUNT-2: vector.store
// CHECK: gpu.return
// CHECK-LABEL: gpu.func @few_1
// CHECK: gpu.barrier

// CHECK-LABEL: func.func @elements(
// CHECK: gpu.launch_func  @device::@elements_0 blocks in (%c1024, %c1, %c1) threads in (%c256, %c1, %c1)
func.func @elements(%x: tensor<1024x1024xf32> {dtc.alignment = 64 : i64}) -> (tensor<1024x1024xf32> {dtc.alignment = 64 : i64})
    attributes {dtc.kernel} {
  %0 = dtc.tanh %x : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK: gpu.launch_func  @device::@rows_0 blocks in (%c16
func.func @rows(%x: tensor<64x768xf32>) -> tensor<64x768xf32> attributes {dtc.kernel} {
  %0 = dtc.softmax %x : (tensor<64x768xf32>) -> tensor<64x768xf32>
  return %0 : tensor<64x768xf32>
}

func.func @long_rows(%x: tensor<64x8192xf32>) -> tensor<64x8192xf32> attributes {dtc.kernel} {
  %0 = dtc.softmax %x : (tensor<64x8192xf32>) -> tensor<64x8192xf32>
  return %0 : tensor<64x8192xf32>
}

func.func @loops(%x: tensor<64x65536xf32>) -> tensor<64x65536xf32> attributes {dtc.kernel} {
  %0 = dtc.softmax %x : (tensor<64x65536xf32>) -> tensor<64x65536xf32>
  return %0 : tensor<64x65536xf32>
}

// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[S:.*]]: memref<{{[0-9]+}}xi8>) attributes {dtc.kernel, dtc.scratch
// CHECK: gpu.launch_func  @device::@columns_0
// CHECK: gpu.launch_func  @device::@columns_1
func.func @columns(%x: tensor<4096x256xf32>) -> tensor<1x256xf32> attributes {dtc.kernel} {
  %0 = dtc.reduce_sum %x axes [0] : (tensor<4096x256xf32>) -> tensor<1x256xf32>
  return %0 : tensor<1x256xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK: gpu.launch_func  @device::@transpose_0 blocks in (%c8
func.func @transpose(%x: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> attributes {dtc.kernel} {
  %0 = dtc.transpose %x [0, 2, 1] : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  return %0 : tensor<2x64x64xf32>
}

// Rows that no update goes to are zero.
// CHECK-LABEL: func.func @scatter(
// CHECK: gpu.memset
// CHECK-COUNT-6: gpu.launch_func  @device::@scatter_
func.func @scatter(%i: tensor<3000xi64>, %u: tensor<3000x64xf32>) -> (tensor<1000x64xf32> {dtc.alignment = 64 : i64}) attributes {dtc.kernel} {
  %0 = dtc.scatter_add %i, %u : (tensor<3000xi64>, tensor<3000x64xf32>) -> tensor<1000x64xf32>
  return %0 : tensor<1000x64xf32>
}

// CHECK-LABEL: func.func @few(
// CHECK-NOT: gpu.memset
// CHECK-COUNT-2: gpu.launch_func  @device::@few_
func.func @few(%i: tensor<3000xi64>, %u: tensor<3000x64xf32>) -> tensor<2x64xf32> attributes {dtc.kernel} {
  %0 = dtc.scatter_add %i, %u : (tensor<3000xi64>, tensor<3000x64xf32>) -> tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}
