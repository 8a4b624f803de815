//===- Passes.td - passes that compile kernels for CPUs ----*- tablegen -*-===//

#ifndef DTC_TARGET_CPU_PASSES_TD
#define DTC_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerKernels : Pass<"dtc-lower-kernels", "mlir::ModuleOp"> {
  let summary = "Lower linalg on tensors to vector loops over rows";
  let description = [{
    A kernel becomes a function without results whose arguments are flat
    buffers: its operands, then its results, except those that overwrite an
    operand (`dtc.update`), then, if it needs one, a scratch buffer whose size
    in bytes is the function's attribute `dtc.scratch`. Booleans are bytes.

    All generics with the same rows (all dimensions but the last) share one
    nest of loops over rows. Inside, loops over columns compute on vectors, one
    between any two reductions of a row. Values live in registers. If a later
    column loop needs a costly value again, a row of scratch keeps it. Nothing
    is allocated. A nest with enough work for several threads becomes an
    `scf.parallel` over a constant number of parts. A part is a range of a row
    loop, with sums of its own that are added in the order of the parts, or a
    range of column vectors.

    Every tensor in memory has a buffer of its own, except a result that
    overwrites an argument. Reading the argument after that is an error.

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
    Option<"leastWork", "least-work", "int64_t", "1 << 19",
           "do not divide a nest with less work (dtc.work)">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def OutlineLoops : Pass<"dtc-outline-loops", "mlir::ModuleOp"> {
  let summary = "Outline the loops that threads share to functions";
  let description = [{
    Each `scf.parallel` of a kernel becomes a function that runs a range of its
    iterations on the buffers that it uses, and a call of that function with the
    whole range. The attribute `dtc.work` is the cost of the whole range.

    Before:
    ```mlir
    func.func @k(%x: memref<65536xf32>, %y: memref<65536xf32>) {
      scf.parallel (%part) = (%c0) to (%c64) step (%c1) {...} {dtc.work = 524288}
    ```
    After:
    ```mlir
    func.func private @k_part0(%first: index, %end: index, %x: memref<65536xf32>,
                               %y: memref<65536xf32>) attributes {dtc.work = 524288} {
      scf.for %part = %first to %end step %c1 {...}
    ...
    func.func @k(%x: memref<65536xf32>, %y: memref<65536xf32>) {
      func.call @k_part0(%c0, %c64, %x, %y)
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::scf::SCFDialect"];
}

def DivideCalls : Pass<"dtc-divide-calls", "mlir::ModuleOp"> {
  let summary = "Divide calls of outlined loops among the runtime's threads";
  let description = [{
    A call of a function with `dtc.work` becomes a call of `dtcrt_divide`. This
    calls the function on several threads, each with a range of iterations, and
    passes buffers in an array. The kernel gets one more argument, the context,
    and marks the arguments that it does not write with `llvm.readonly`.

    Before:
    ```mlir
    llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) {
      llvm.call @k_part0(%first, %end, %x, %y)
    ```
    After:
    ```mlir
    llvm.func @k(%x: !llvm.ptr {llvm.readonly}, %y: !llvm.ptr, %context: !llvm.ptr) {
      ...                                                // stores %x, %y to %buffers
      llvm.call @dtcrt_divide(%context, %first, %end, %work, @k_part0, %buffers)
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def LowerBFloat16 : Pass<"dtc-lower-bfloat16"> {
  let summary = "Replace bf16 by i16 in LLVM code";
  let description = [{
    Code of the LLVM dialect must not compute in bf16: it may load, move, store and
    bitcast such values. Their types become i16. Functions neither take nor return
    bf16, and vectors have one dimension.

    Before: `%x = llvm.load %p : !llvm.ptr -> vector<8xbf16>`

    After: `%x = llvm.load %p : !llvm.ptr -> vector<8xi16>`
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def CompileKernels : Pass<"dtc-compile-kernels", "mlir::ModuleOp"> {
  let summary = "Lower the modules of kernels to the LLVM dialect";
  let description = [{
    Runs the passes from dtc-lower-to-linalg to the LLVM dialect on every nested
    module that has kernels, and on no other. Stage functions are lowered later,
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
