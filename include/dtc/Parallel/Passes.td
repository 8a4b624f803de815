//===- Passes.td - passes of the parallel phase ------------*- tablegen -*-===//

#ifndef DTC_PARALLEL_PASSES_TD
#define DTC_PARALLEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignMesh : Pass<"dtc-assign-mesh", "::mlir::ModuleOp"> {
  let summary = "writes layouts on the arguments of @step";
  let description = [{
    Makes the mesh `<pp, dp, tp, mb>`, the axes of ranks in the given order,
    and writes `dtc.layout` on every argument of `@step`: inputs and labels are
    split along dimension 0 on mb, then dp; parameters and their state as
    `dtc.split_dims` says; all else is replicated. An axis of ranks of size 1 gets no
    entry; mb always does, since it tells what runs per micro-batch. Without
    tensor parallelism the mesh has no tp. mb is the micro-batches of all
    rounds.

    ```mlir
    %x: tensor<32x10xf32> {dtc.kind = "input"}
    // becomes
    %x: tensor<32x10xf32> {dtc.kind = "input", dtc.layout = #dtc.layout<#mesh, mb: split(0), dp: split(0)>}
    ```
    A batch that dp x microbatches x accumulate does not divide is an error
    that names numbers that would do.
  }];
  let options = [
    Option<"dp", "dp", "int64_t", "1", "Ranks that share the batch">,
    Option<"hsdp", "hsdp", "int64_t", "1", "How many of these form a group that ZeRO splits over">,
    Option<"pp", "pp", "int64_t", "1", "Pipeline stages">,
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split product">,
    Option<"microbatches", "microbatches", "int64_t", "1", "Micro-batches in a round">,
    Option<"accumulate", "accumulate", "int64_t", "1", "Rounds in a step">,
    ListOption<"order", "order", "std::string",
               "Axes of ranks, outermost first; empty: pp, dp, shard, tp">,
  ];
}

def PropagateLayouts : Pass<"dtc-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "infers the layout of every value, by the ops' sharding rules";
  let description = [{
    Forward, in program order. Where an op cannot take its operands as they
    are, they get a `dtc.reshard`: partial operands that the op is not linear
    in are reduced, operands that share a factor are split alike. A value is
    resharded to one layout once, whatever the number of its users.

    * An axis stays with parameters before it goes to other values, and with
      rows and columns before sums.
    * A value of a micro-batch that is partial on an axis of ranks is reduced
      before anything but a sum, a move or a view of it; split as its users want
      it. One that is partial on mb too is reduced at the end of the step.
    * Where a dimension that a rule needs whole is split, the op is expanded
      (`SplitExpansionInterface`).
    * What does not depend on the batch, but has rows for it, is made for one
      part of the batch, that of a micro-batch and a rank, if it repeats: repeated values, constants whose rows are
      equal or repeat in groups, and what is made of such.
    * With one micro-batch, what a value of it needs belongs to it, be it a sum
      over the batch: only gradients and what the step returns leave it.

    ```mlir
    %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<32x10xf32>, tensor<32x5xf32>) -> tensor<10x5xf32>
    // becomes
    %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<32x10xf32, #mb_dp>, tensor<32x5xf32, #mb_dp>) -> tensor<10x5xf32, #partial_dp_partial_mb>
    ```
  }];
  let options = [
    Option<"replicasAtLaunch", "replicas-at-launch", "bool", "false",
           "The size of dp is known at launch only: random numbers ask for it">,
  ];
}

def InsertCollectives : Pass<"dtc-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "turns every reshard into collectives";
  let description = [{
    Partial on mb becomes a sum over micro-batches; then partial becomes
    replicated by an all-reduce or split by a reduce-scatter. An axis that
    splits another dimension moves there by an all-to-all, if it is the minor
    split of the one and becomes the next of the other; axes that split a
    dimension into as many shards take the place of others by a permutation.
    What remains is gathered where it is split, and sliced where it is to be.
    The partial axes of one value are reduced at once, over their product. With
    `reduce-dtype` gradients are cast before and back after they are reduced;
    what accumulates over micro-batches does so in its own type.

    ```mlir
    %g = dtc.reshard %dw : tensor<10x5xf32, #partial_dp_partial_mb> -> tensor<10x5xf32, #replicated>
    // becomes
    %a = dtc.sum_microbatches %dw : tensor<10x5xf32, #partial_dp_partial_mb> -> tensor<10x5xf32, #partial_dp>
    %g = dtc.all_reduce sum %a over ["dp"] : (tensor<10x5xf32, #partial_dp>) -> tensor<10x5xf32, #replicated>

    %y = dtc.reshard %x : tensor<8x8xf32, #dp_dim1> -> tensor<8x8xf32, #dp_dim0>
    // becomes
    %y = dtc.all_to_all %x over ["dp"] from 1 to 0 : (tensor<8x8xf32, #dp_dim1>) -> tensor<8x8xf32, #dp_dim0>
    ```
  }];
  let options = [
    Option<"reduceDtype", "reduce-dtype", "std::string", "\"fp32\"",
           "what ranks sum gradients in: fp32, bf16 or fp16">,
  ];
}

#endif // DTC_PARALLEL_PASSES_TD
