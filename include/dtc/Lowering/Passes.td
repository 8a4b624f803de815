//===- Passes.td - passes of the lower phase ---------------*- tablegen -*-===//

#ifndef DTC_LOWERING_PASSES_TD
#define DTC_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLinalg : Pass<"dtc-lower-to-linalg", "mlir::ModuleOp"> {
  let summary = "turn the dtc ops of a kernel into linalg on tensors";
  let description = [{
    Kernels are functions with the attribute `dtc.kernel`. Every op is replaced
    by what its LinalgLoweringInterface builds: one `linalg.generic` per loop
    over its elements, `tensor.extract_slice` for ranges, `tensor.concat` for
    what is made of parts. Nothing inserts into a tensor: chains of insertions
    that begin alike would be merged by CSE and share a buffer. `dtc.scatter_add`
    stays: a structured op cannot write to a position that is data.

    A kernel computes in f32 what it has in f16 or bf16: it widens what it
    reads, and rounds what it stores.

    Before:
    ```mlir
    %0 = dtc.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    After: a generic for the rows' maxima, one for exp(x - max), one for their
    sums, one for the quotient.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
                           "mlir::math::MathDialect", "mlir::tensor::TensorDialect"];
}

def LowerKernels : Pass<"dtc-lower-kernels", "mlir::ModuleOp"> {
  let summary = "turn linalg on tensors into vector loops over rows, for a CPU";
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
    Option<"hasBf16", "has-bf16", "bool", "false",
           "the CPU rounds to bf16; else integer arithmetic does">,
  ];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect",
    "mlir::linalg::LinalgDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::memref::MemRefDialect",
    "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect",
    "mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"dtc-expand-math"> {
  let summary = "compute by arithmetic what the processor has no instruction for";
  let description = [{
    Vector code of a kernel calls no library. Transcendental functions of f32
    become polynomials; those of f64, which serve comparisons in double precision,
    keep calling libm. `dtc.philox` becomes its ten rounds. Where the CPU has no
    instruction that rounds to bf16, integer arithmetic does.

    ```mlir
    %y = math.exp %x : vector<8xf32>
    %w = dtc.philox %seed, %step, %position {id = 3 : i64} : (i64, i64, i64) -> i32
    // becomes arith and math.fma on vector<8xf32>, and ten times two
    // arith.mului_extended by Philox's constants
    ```
  }];
  let options = [
    Option<"hasBf16", "has-bf16", "bool", "false",
           "the CPU rounds to bf16; else integer arithmetic does">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::vector::VectorDialect"];
}

def LowerPlan : Pass<"dtc-lower-plan", "::mlir::ModuleOp"> {
  let summary = "turn stage functions and plans into lists of calls";
  let description = [{
    Every tensor becomes an address: an arena, a frame or an argument, plus the
    constant of the memory plan. Kernels must be in the LLVM dialect already;
    they move out of `@kernels`. The manifest's part that follows from the plans
    is left in the module attribute `dtc.manifest`.

    Before:
    ```mlir
    func.func @plan(%x: ...) attributes {dtc.arena_bytes = 4096 : i64, ...} {
      %y = dtc.run @forward(%x0) microbatch 0 {dtc.offsets = array<i64: 1024>, ...} : ...
      dtc.send %y to 1 tag 0 slot 0 : ...
    ```
    After:
    ```mlir
    llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr) {
      %0 = llvm.getelementptr %arena[...] : ...
      llvm.call @stage0_forward(%ctx, %frame, %scratch, %x0, %0) : ...
      llvm.call @dtcrt_send(%ctx, ...) : ...
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // DTC_LOWERING_PASSES_TD
