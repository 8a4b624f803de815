// RUN: dtc-opt %s --dtc-emulate-device | FileCheck %s

// CHECK-NOT: gpu.
module @kernels attributes {gpu.container_module} {
  gpu.module @device {
    // Buffers come from the array of addresses, shared memory, numbers, barriers
    // and shuffles from the thread.
    // CHECK: func.func private @device_k(%[[SELF:.*]]: !llvm.ptr, %[[ADDRESSES:.*]]: !llvm.ptr)
    // CHECK-SAME: attributes {dtc.meets, dtc.places = array<i64: 32, -64>, dtc.shared_bytes = 128 : i64}
    // CHECK: llvm.getelementptr %[[ADDRESSES]][0]
    // CHECK: llvm.getelementptr %[[ADDRESSES]][1]
    // CHECK: llvm.getelementptr %[[SELF]][0, 2]
    gpu.func @k(%x: memref<8xf32>, %y: memref<8xf64>) workgroup(%s: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
      // CHECK: %[[T:.*]] = llvm.getelementptr %[[SELF]][0, 0]
      // CHECK: llvm.load %[[T]] : !llvm.ptr -> i32
      %t = gpu.thread_id x
      %0 = memref.load %x[%t] : memref<8xf32>
      %offset = arith.constant 16 : i32
      %width = arith.constant 32 : i32
      // CHECK: %[[SHUFFLE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
      // CHECK: llvm.call %[[SHUFFLE]](%[[SELF]], %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32, i32) -> i32
      %1, %ok = gpu.shuffle xor %0, %offset, %width : f32
      memref.store %1, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
      // CHECK: %[[BARRIER:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
      // CHECK: llvm.call %[[BARRIER]](%[[SELF]]) : !llvm.ptr, (!llvm.ptr) -> ()
      gpu.barrier
      %2 = memref.load %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
      %3 = arith.extf %2 : f32 to f64
      memref.store %3, %y[%t] : memref<8xf64>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // A loop counts its iterations.
      // CHECK: scf.for
      // CHECK-NEXT: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
      // CHECK-NEXT: llvm.getelementptr %[[SELF]][0, 5]
      // CHECK-NEXT: %[[COUNT:.*]] = llvm.load
      // CHECK-NEXT: %[[NEXT:.*]] = llvm.add %[[COUNT]], %[[ONE]]
      // CHECK-NEXT: %[[PLACE:.*]] = llvm.getelementptr %[[SELF]][0, 5]
      // CHECK-NEXT: llvm.store %[[NEXT]], %[[PLACE]]
      scf.for %i = %c0 to %c8 step %c1 {
        memref.store %3, %y[%i] : memref<8xf64>
      }
      // CHECK: return
      gpu.return
    }
  }
}
