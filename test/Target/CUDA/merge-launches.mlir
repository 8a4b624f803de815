// RUN: dtc-opt %s --dtc-merge-launches --canonicalize | FileCheck %s

// Two launches of equal functions become one, of the blocks of both: a block
// chooses buffers and sizes. It does not choose values that both share.
// CHECK: gpu.func @k_0(%[[RATE:.*]]: memref<1xf32>, %[[X:.*]]: memref<1000xf32>, %[[Y:.*]]: memref<40xf32>) kernel
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %c4
// CHECK: %[[SIZE:.*]] = arith.select %[[FIRST]], %c1000, %c40
// CHECK: %[[CHOSEN:.*]]:2 = scf.if %[[FIRST]] -> (index, memref<?xf32>)
// CHECK:   %[[CAST:.*]] = memref.cast %[[X]] : memref<1000xf32> to memref<?xf32>
// CHECK:   scf.yield %[[BLOCK]], %[[CAST]]
// CHECK: } else {
// CHECK:   %[[OWN:.*]] = arith.subi %[[BLOCK]], %c4
// CHECK:   %[[CAST:.*]] = memref.cast %[[Y]]
// CHECK:   scf.yield %[[OWN]], %[[CAST]]
// CHECK: arith.muli %[[CHOSEN]]#0, %c256
// CHECK: arith.cmpi ult, %{{.*}}, %[[SIZE]]
// CHECK: memref.load %[[RATE]]
// CHECK: memref.store %{{.*}}, %[[CHOSEN]]#1
// CHECK-NOT: gpu.func @k_1
// CHECK: gpu.func @k_2
// CHECK: gpu.func @k_3

// A dependent launch comes later, and different code is another launch.
// CHECK-LABEL: func.func @k(
// CHECK: gpu.launch_func  @device::@k_0 blocks in (%c5, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1xf32>, %arg1 : memref<1000xf32>, %arg2 : memref<40xf32>)
// CHECK-NEXT: gpu.launch_func  @device::@k_3
// CHECK-NEXT: gpu.launch_func  @device::@k_2
// CHECK-NEXT: return
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k_0(%rate: memref<1xf32>, %x: memref<1000xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %c1000 = arith.constant 1000 : index
      %b = gpu.block_id x
      %t = gpu.thread_id x
      %s = arith.muli %b, %c256 : index
      %i = arith.addi %s, %t : index
      %v = arith.cmpi ult, %i, %c1000 : index
      scf.if %v {
        %r = memref.load %rate[%c0] : memref<1xf32>
        memref.store %r, %x[%i] : memref<1000xf32>
      }
      gpu.return
    }
    gpu.func @k_1(%rate: memref<1xf32>, %x: memref<40xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %c40 = arith.constant 40 : index
      %b = gpu.block_id x
      %t = gpu.thread_id x
      %s = arith.muli %b, %c256 : index
      %i = arith.addi %s, %t : index
      %v = arith.cmpi ult, %i, %c40 : index
      scf.if %v {
        %r = memref.load %rate[%c0] : memref<1xf32>
        memref.store %r, %x[%i] : memref<40xf32>
      }
      gpu.return
    }
    // Reads what the first wrote.
    gpu.func @k_2(%rate: memref<1000xf32>, %x: memref<40xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %c40 = arith.constant 40 : index
      %b = gpu.block_id x
      %t = gpu.thread_id x
      %s = arith.muli %b, %c256 : index
      %i = arith.addi %s, %t : index
      %v = arith.cmpi ult, %i, %c40 : index
      scf.if %v {
        %r = memref.load %rate[%c0] : memref<1000xf32>
        memref.store %r, %x[%i] : memref<40xf32>
      }
      gpu.return
    }
    gpu.func @k_3(%x: memref<40xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %t = gpu.thread_id x
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %x[%t] : memref<40xf32>
      gpu.return
    }
  }
  func.func @k(%rate: memref<1xf32>, %x: memref<1000xf32>, %y: memref<40xf32>, %z: memref<40xf32>, %u: memref<40xf32>)
      attributes {dtc.kernel} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func @device::@k_0 blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%rate : memref<1xf32>, %x : memref<1000xf32>)
    gpu.launch_func @device::@k_2 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%x : memref<1000xf32>, %z : memref<40xf32>)
    gpu.launch_func @device::@k_1 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%rate : memref<1xf32>, %y : memref<40xf32>)
    gpu.launch_func @device::@k_3 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%u : memref<40xf32>)
    return
  }
}
