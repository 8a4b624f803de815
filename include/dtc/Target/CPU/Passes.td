//===- Passes.td - passes that compile kernels for CPUs ----*- tablegen -*-===//

#ifndef DTC_TARGET_CPU_PASSES_TD
#define DTC_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerKernels : Pass<"dtc-lower-kernels", "mlir::ModuleOp"> {
  let summary = "turn linalg on tensors into vector loops over rows";
  let description = [{
    A kernel becomes a function without results whose arguments are flat
    buffers: its operands, then its results, except those that overwrite an
    operand (`dtc.update`), then, if it needs one, a scratch buffer whose size
    in bytes is the function's attribute `dtc.scratch`. Booleans are bytes.

    All generics with the same rows (all dimensions but the last) share one
    nest of loops over rows. Inside, loops over columns compute on vectors, one
    between any two reductions of a row. Values live in registers; a costly one
    that a later column loop needs again is kept in a row of scratch. Nothing
    is allocated.

    Every tensor in memory has a buffer of its own, but for a result that
    overwrites an argument. An argument that is read after that is an error.

    Before:
    ```mlir
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = linalg.generic ... { math.exp } ...
    ```
    After:
    ```mlir
    func.func @k(%x: memref<32xf32>, %y: memref<32xf32>) {
      scf.for %i = %c0 to %c32 step %c8 {
        %0 = vector.load %x[%i] : memref<32xf32>, vector<8xf32>
        %1 = math.exp %0 : vector<8xf32>
        vector.store %1, %y[%i] : memref<32xf32>, vector<8xf32>
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "256",
           "width of vector registers">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def CompileKernels : Pass<"dtc-compile-kernels", "mlir::ModuleOp"> {
  let summary = "turn the modules of kernels into the LLVM dialect";
  let description = [{
    Runs the passes from dtc-lower-to-linalg to the LLVM dialect on every nested
    module that has kernels, and on no other: stage functions become calls only
    when the scratch memory of kernels is known.

    Before: `func.func @relu(%x: tensor<8xf32>) -> tensor<8xf32> attributes {dtc.kernel} {...}`

    After: `llvm.func @relu(%x: !llvm.ptr, %y: !llvm.ptr) attributes {dtc.kernel} {...}`
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "256",
           "width of vector registers">,
  ];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect",
    "mlir::linalg::LinalgDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::memref::MemRefDialect",
    "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect",
    "mlir::vector::VectorDialect"];
}

#endif // DTC_TARGET_CPU_PASSES_TD
