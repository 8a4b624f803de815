// RUN: dtc-opt --dtc-lower-bfloat16 %s | FileCheck %s --implicit-check-not=bf16

// A vector that lives in two blocks, and a constant.
// CHECK-LABEL: llvm.func @copy
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xi16>
// CHECK: llvm.mlir.constant(dense<16256> : vector<8xi16>)
// CHECK: llvm.store %{{.*}} : vector<8xi16>, !llvm.ptr
// CHECK: llvm.store %{{.*}} : i16, !llvm.ptr
// CHECK: llvm.return
llvm.func @copy(%from: !llvm.ptr, %to: !llvm.ptr, %condition: i1) {
  %x = llvm.load %from : !llvm.ptr -> vector<8xbf16>
  %bits = llvm.bitcast %x : vector<8xbf16> to vector<8xi16>
  %one = llvm.mlir.constant(dense<1.0> : vector<8xbf16>) : vector<8xbf16>
  %y = llvm.select %condition, %x, %one : i1, vector<8xbf16>
  llvm.cond_br %condition, ^store(%y : vector<8xbf16>), ^end
^store(%z: vector<8xbf16>):
  llvm.store %z, %to : vector<8xbf16>, !llvm.ptr
  %zero = llvm.mlir.constant(0.0 : bf16) : bf16
  llvm.store %zero, %to : bf16, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}
