// RUN: dtc-opt %s --dtc-divide-calls | FileCheck %s

// CHECK: llvm.func @copy_part0(%[[ARRAY:.*]]: !llvm.ptr, %[[FIRST:.*]]: i64, %[[END:.*]]: i64) attributes {dtc.work = 512 : i64}
// CHECK: %[[SLOT0:.*]] = llvm.getelementptr %[[ARRAY]][0]
// CHECK: %[[X:.*]] = llvm.load %[[SLOT0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[SLOT1:.*]] = llvm.getelementptr %[[ARRAY]][1]
// CHECK: %[[Y:.*]] = llvm.load %[[SLOT1]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.getelementptr %[[X]][%[[FIRST]]]
// CHECK: llvm.getelementptr %[[Y]][%[[FIRST]]]
llvm.func @copy_part0(%first: i64, %end: i64, %x: !llvm.ptr, %y: !llvm.ptr) attributes {dtc.work = 512 : i64} {
  %from = llvm.getelementptr %x[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %to = llvm.getelementptr %y[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %from : !llvm.ptr -> f32
  llvm.store %v, %to : f32, !llvm.ptr
  llvm.return
}

// CHECK: llvm.func @copy(%[[X:.*]]: !llvm.ptr {llvm.readonly}, %[[Y:[a-z0-9]+]]: !llvm.ptr, %[[CONTEXT:.*]]: !llvm.ptr) attributes {dtc.kernel}
// CHECK: %[[BUFFERS:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.store %[[X]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: llvm.store %[[Y]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK-DAG: %[[WORK:.*]] = llvm.mlir.constant(512 : i64)
// CHECK-DAG: %[[PART:.*]] = llvm.mlir.addressof @copy_part0
// CHECK: llvm.call @dtcrt_divide(%[[CONTEXT]], %{{.*}}, %{{.*}}, %[[WORK]], %[[PART]], %[[BUFFERS]])
// CHECK-NOT: llvm.call @copy_part0
llvm.func @copy(%x: !llvm.ptr, %y: !llvm.ptr) attributes {dtc.kernel} {
  %first = llvm.mlir.constant(0 : i64) : i64
  %end = llvm.mlir.constant(8 : i64) : i64
  llvm.call @copy_part0(%first, %end, %x, %y) : (i64, i64, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}

// A function that divides nothing does not change.
// CHECK: llvm.func @plain(%{{.*}}: !llvm.ptr) attributes {dtc.kernel}
llvm.func @plain(%x: !llvm.ptr) attributes {dtc.kernel} {
  llvm.return
}

// CHECK: llvm.func @dtcrt_divide(!llvm.ptr, i64, i64, i64, !llvm.ptr, !llvm.ptr)
