//===- Passes.td - passes of the parallel phase ------------*- tablegen -*-===//

#ifndef DTC_PARALLEL_PASSES_TD
#define DTC_PARALLEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignMesh : Pass<"dtc-assign-mesh", "::mlir::ModuleOp"> {
  let summary = "writes layouts on the arguments of @step";
  let description = [{
    Makes the mesh `<pp, dp, mb>` and writes `dtc.layout` on every argument of
    `@step`: inputs and labels are split along dimension 0 on mb, then dp;
    parameters, state and scalars are replicated. An axis of ranks of size 1
    gets no entry; mb always does, since it tells what runs per micro-batch.

    ```mlir
    %x: tensor<32x10xf32> {dtc.kind = "input"}
    // becomes
    %x: tensor<32x10xf32> {dtc.kind = "input", dtc.layout = #dtc.layout<#mesh, mb: split(0), dp: split(0)>}
    ```
    A batch that dp x microbatches does not divide is an error that names
    numbers that would do.
  }];
  let options = [
    Option<"dp", "dp", "int64_t", "1", "Ranks that share the batch">,
    Option<"pp", "pp", "int64_t", "1", "Pipeline stages">,
    Option<"microbatches", "microbatches", "int64_t", "1", "Micro-batches in a step">,
  ];
}

def PropagateLayouts : Pass<"dtc-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "infers the layout of every value, by the ops' sharding rules";
  let description = [{
    Forward, in program order. Where an op cannot take its operands as they
    are, they get a `dtc.reshard`: partial operands that the op is not linear
    in are reduced, operands that share a factor are split alike. A value is
    resharded to one layout once, whatever the number of its users.

    ```mlir
    %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<32x10xf32>, tensor<32x5xf32>) -> tensor<10x5xf32>
    // becomes
    %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<32x10xf32, #mb_dp>, tensor<32x5xf32, #mb_dp>) -> tensor<10x5xf32, #partial_dp_partial_mb>
    ```
  }];
}

def InsertCollectives : Pass<"dtc-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "turns every reshard into collectives";
  let description = [{
    Partial on mb becomes a sum over micro-batches; then partial becomes
    replicated by an all-reduce or split by a reduce-scatter, split becomes
    replicated by an all-gather, replicated becomes split by a local slice.
    The partial axes of one value are reduced at once, over their product.

    ```mlir
    %g = dtc.reshard %dw : tensor<10x5xf32, #partial_dp_partial_mb> -> tensor<10x5xf32, #replicated>
    // becomes
    %a = dtc.sum_microbatches %dw : tensor<10x5xf32, #partial_dp_partial_mb> -> tensor<10x5xf32, #partial_dp>
    %g = dtc.all_reduce sum %a over ["dp"] : (tensor<10x5xf32, #partial_dp>) -> tensor<10x5xf32, #replicated>
    ```
  }];
}

def VerifyParallel : Pass<"dtc-verify-parallel", "::mlir::ModuleOp"> {
  let summary = "checks what holds after the parallel phase";
  let description = [{
    Every tensor has a layout over one mesh; no reshard is left; a sum over
    micro-batches feeds something that runs per micro-batch only if it depends
    on inputs alone.
  }];
}

#endif // DTC_PARALLEL_PASSES_TD
