//===- Passes.td - passes of the lower phase ---------------*- tablegen -*-===//

#ifndef DTC_LOWERING_PASSES_TD
#define DTC_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLinalg : Pass<"dtc-lower-to-linalg", "mlir::ModuleOp"> {
  let summary = "Lower the dtc ops of kernels to linalg on tensors";
  let description = [{
    Kernels are functions with the attribute `dtc.kernel`. Every op is replaced
    by the ops that its LinalgLoweringInterface builds: a `linalg.generic` for
    each loop over its elements, `tensor.extract_slice` for ranges, and
    `tensor.concat` for concatenations. No op inserts into a tensor: CSE would
    merge chains of insertions with the same start, and they would share a
    buffer. `dtc.scatter_add` stays, because a structured op cannot write to a
    position that is data.

    Values of f16 and bf16 are computed in f32: a kernel widens its operands,
    and rounds the result of each op.

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

def LowerPlan : Pass<"dtc-lower-plan", "::mlir::ModuleOp"> {
  let summary = "Lower stage functions and plans to calls of kernels and the runtime";
  let description = [{
    Every tensor becomes an address: an arena, a frame or an argument, plus the
    constant of the memory plan. Kernels must be in the LLVM dialect already;
    they move out of `@kernels`. The pass writes the part of the manifest that
    follows from the plans to the module attribute `dtc.manifest`.

    Before:
    ```mlir
    func.func @plan(%x: ...) attributes {dtc.arena_bytes = 4096 : i64, ...} {
      %y = dtc.run @forward(%x0) microbatch 0 {dtc.offsets = array<i64: 1024>, ...} : ...
      %s = dtc.send %y to 1 tag 0 : ...
    ```
    After:
    ```mlir
    llvm.func @stage0_plan(%ctx: !llvm.ptr, %arena: !llvm.ptr, %host: !llvm.ptr) {
      %0 = llvm.getelementptr %arena[...] : ...
      llvm.call @stage0_forward(%ctx, %frame, %scratch, %x0, %0) : ...
      llvm.call @dtcrt_send(%ctx, ...) : ...
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandMath : Pass<"dtc-expand-math"> {
  let summary = "Expand math functions to polynomials and integer arithmetic";
  let description = [{
    Vector code of a kernel calls no library. Transcendental functions of f32
    become polynomials. On CPUs those of f64, which serve comparisons in double
    precision, and powers keep calling libm; with `expand-double` they become
    arithmetic on f64. With `has-exp2` exp of f32 is made of exp2, to about two
    units in the last place beside the error of exp2. `dtc.philox` becomes its
    ten rounds. Without `has-bf16` integer arithmetic rounds to bf16.

    ```mlir
    %y = math.exp %x : vector<8xf32>
    %w = dtc.philox %seed, %step, %position {id = 3 : i64} : (i64, i64, i64) -> i32
    // becomes arith and math.fma on vector<8xf32>, and ten times two
    // arith.mului_extended by Philox's constants
    ```
  }];
  let options = [
    Option<"hasBf16", "has-bf16", "bool", "false",
           "the target has an instruction that rounds to bf16">,
    Option<"hasExp2", "has-exp2", "bool", "false",
           "the target has an instruction for 2^x of f32">,
    Option<"expandDouble", "expand-double", "bool", "false",
           "also expand exp and log of f64, and powers (no math library)">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::vector::VectorDialect"];
}

#endif // DTC_LOWERING_PASSES_TD
