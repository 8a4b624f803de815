// RUN: dtc-opt %s --dtc-lower-launches | FileCheck %s

module @kernels attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @first(%x: memref<8xf32>) kernel {
      gpu.return
    }
    gpu.func @k_0(%x: memref<8xf32>, %s: memref<64xi8>, %y: memref<8xf32>) kernel {
      %c0 = arith.constant 0 : index
      %part = memref.view %s[%c0][] : memref<64xi8> to memref<8xf32>
      %0 = memref.load %x[%c0] : memref<8xf32>
      %1 = memref.load %part[%c0] : memref<8xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%c0] : memref<8xf32>
      gpu.return
    }
  }

  // The number of the device function, the grid, the addresses of buffers. An
  // attribute marks arguments that launches do not write.
  // CHECK: llvm.func @k(%[[X:.*]]: !llvm.ptr {llvm.readonly}, %[[Y:.*]]: !llvm.ptr, %[[S:.*]]: !llvm.ptr {llvm.readonly}, %[[CONTEXT:.*]]: !llvm.ptr)
  // CHECK-SAME: attributes {dtc.kernel, dtc.scratch = 64 : i64}
  // CHECK: %[[ROOM:.*]] = llvm.alloca
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
  // CHECK: llvm.call @dtcrt_fill(%[[CONTEXT]], %[[Y]], %[[ZERO]], %[[BYTES]])
  // CHECK-DAG: llvm.store %[[X]]
  // CHECK-DAG: llvm.store %[[S]]
  // CHECK-DAG: llvm.store %[[Y]]
  // CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: %[[BLOCKS:.*]] = llvm.mlir.constant(3 : i64)
  // CHECK: %[[THREADS:.*]] = llvm.mlir.constant(128 : i32)
  // CHECK: llvm.call @dtcrt_launch(%[[CONTEXT]], %[[NUMBER]], %[[BLOCKS]], %[[THREADS]], %[[ROOM]])
  func.func @k(%x: memref<8xf32>, %y: memref<8xf32>, %s: memref<64xi8>) attributes {dtc.kernel, dtc.scratch = 64 : i64} {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    gpu.memset %y, %zero : memref<8xf32>, f32
    gpu.launch_func @device::@k_0 blocks in (%c3, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%x : memref<8xf32>, %s : memref<64xi8>, %y : memref<8xf32>)
    return
  }
}
