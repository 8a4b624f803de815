//===- Passes.td - passes of the parallel phase ------------*- tablegen -*-===//

#ifndef DTC_PARALLEL_PASSES_TD
#define DTC_PARALLEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignMesh : Pass<"dtc-assign-mesh", "::mlir::ModuleOp"> {
  let summary = "Assign layouts to the arguments of @step";
  let description = [{
    Makes the mesh `<pp, dp, tp, mb>`, with the axes of ranks in the given
    order, and writes `dtc.layout` on every argument of `@step`. Inputs and
    labels are split along dimension 0 on mb, then dp. Parameters and their
    state are split as `dtc.split_dims` says. All other arguments are
    replicated. An axis of ranks of size 1 gets no entry; mb always does,
    because it marks the values that differ per micro-batch. With `workers`,
    each position on dp has its own batch, trained parameters and state: these
    are `each` on dp, and a batch is a worker's. Without tensor
    parallelism the mesh has no tp. The size of mb is the number of
    micro-batches of all rounds.

    ```mlir
    %x: tensor<32x10xf32> {dtc.kind = "input"}
    // becomes
    %x: tensor<32x10xf32> {dtc.kind = "input", dtc.layout = #dtc.layout<#mesh, mb: split(0), dp: split(0)>}
    ```
    If dp x microbatches x accumulate does not divide the batch, the pass fails
    with an error that suggests batch sizes.
  }];
  let options = [
    Option<"dp", "dp", "int64_t", "1", "Ranks that share the batch">,
    Option<"hsdp", "hsdp", "int64_t", "1", "Size of the ZeRO sharding group within dp; 1 shards over all of dp">,
    Option<"ep", "ep", "int64_t", "1", "Ranks of dp that share the experts">,
    Option<"workers", "workers", "bool", "false", "Each position on dp trains parameters of its own">,
    Option<"pp", "pp", "int64_t", "1", "Pipeline stages">,
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split product">,
    Option<"microbatches", "microbatches", "int64_t", "1", "Micro-batches in a round">,
    Option<"accumulate", "accumulate", "int64_t", "1", "Rounds in a step">,
    ListOption<"order", "order", "std::string",
               "Axes of ranks, outermost first; empty means pp, dp, shard, tp">,
  ];
}

def PropagateLayouts : Pass<"dtc-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "Infer the layout of every value from the sharding rules of ops";
  let description = [{
    Propagates layouts forward, in program order. An op that cannot use its
    operands as they are gets a `dtc.reshard` of them: partial operands are
    reduced unless the op is linear in them, and operands that share a factor
    are split in the same way. A value is resharded to a layout once, whatever
    the number of its users.

    * Parameters keep their axes before other values do, and rows and columns
      before sums.
    * A value of a micro-batch that is partial on an axis of ranks is reduced
      before any op other than a sum, a move or a view of it, and split as its
      users want it. If it is also partial on mb, it is reduced at the end of
      the step.
    * An op is expanded (`SplitExpansionInterface`) if a dimension is split that
      its rule needs whole.
    * A value that repeats for each part of the batch is made for one part only,
      that of a micro-batch and a rank. Such values are repetitions, constants
      with equal rows or repeated groups of rows, and functions of these.
    * With one micro-batch, all operands of its ops belong to it, even sums over
      the batch. Only gradients and results of the step leave it.

    ```mlir
    %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<32x10xf32>, tensor<32x5xf32>) -> tensor<10x5xf32>
    // becomes
    %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<32x10xf32, #mb_dp>, tensor<32x5xf32, #mb_dp>) -> tensor<10x5xf32, #partial_dp_partial_mb>
    ```
  }];
  let options = [
    Option<"replicasAtLaunch", "replicas-at-launch", "bool", "false",
           "Whether the size of dp is known only at launch, so that random numbers read it">,
  ];
}

def InsertCollectives : Pass<"dtc-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "Turn every reshard into collectives";
  let description = [{
    A value that is partial on mb is summed over micro-batches. Then a partial
    value becomes replicated by an all-reduce, or split by a reduce-scatter. An
    axis moves to another dimension by an all-to-all, if it is the minor split
    of the one and becomes the next split of the other. If other axes are to
    split a dimension into as many shards, a permutation exchanges them. All
    other splits are gathered, and missing splits are sliced. The partial axes
    of a value are reduced at once, over their product. With `reduce-dtype`,
    gradients are cast before they are reduced and back afterwards; sums over
    micro-batches keep their own type.

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
           "Data type of gradient sums over ranks: fp32, bf16 or fp16">,
  ];
}

#endif // DTC_PARALLEL_PASSES_TD
