//===- Passes.td - passes of the parallel phase ------------*- tablegen -*-===//

#ifndef DTC_PARALLEL_PASSES_TD
#define DTC_PARALLEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScaleBatch : Pass<"dtc-scale-batch", "::mlir::ModuleOp"> {
  let summary = "gives a model of a fixed batch another one";
  let description = [{
    Follows the batch from the inputs through the forward graph by the ops'
    sharding rules, as if its samples were micro-batches, and changes the size
    of each dimension that it is in. What a model has for each sample of the
    exported batch, but is the same for all (a class token that is repeated), is
    made of one. A model that mixes samples, or averages over them, keeps its
    batch: that is an error.

    ```mlir
    %0 = dtc.transpose %x [1, 0, 2] : (tensor<2x5x16xf32>) -> tensor<5x2x16xf32>
    %1 = dtc.reshape %0 : (tensor<5x2x16xf32>) -> tensor<10x16xf32>
    // becomes, with batch=32
    %0 = dtc.transpose %x [1, 0, 2] : (tensor<32x5x16xf32>) -> tensor<5x32x16xf32>
    %1 = dtc.reshape %0 : (tensor<5x32x16xf32>) -> tensor<160x16xf32>
    ```
  }];
  let options = [
    Option<"batch", "batch", "int64_t", "0", "Samples of a step; nothing happens with 0">,
  ];
}

def SplitFusedParameters : Pass<"dtc-split-fused-parameters", "::mlir::ModuleOp"> {
  let summary = "takes fused projections apart";
  let description = [{
    Where a `dtc.split`, or `dtc.slice`s that have all of a value, cut the last
    dimension of a product with a parameter, biases and reshapes between
    included, each part gets a product and parameters of its own, so that tensor
    parallelism can split each by itself. So it is where that dimension is
    reshaped to `[.., 3, heads, width]` before the 3 is cut.
    `dtc.part` says which part of which tensor a parameter is: files hold the
    tensors of the model.

    ```mlir
    %w: tensor<128x384xf32> {dtc.parameter = "c_attn.weight"}
    %y = dtc.matmul %x, %w : (tensor<64x128xf32>, tensor<128x384xf32>) -> tensor<64x384xf32>
    %q, %k, %v = dtc.split %y axis 1 : (tensor<64x384xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>)
    // becomes
    %w0: tensor<128x128xf32> {dtc.parameter = "c_attn.weight/0", dtc.part = {tensor = "c_attn.weight", shape = array<i64: 128, 384>, dim = 1, start = 0}}, ...
    %q = dtc.matmul %x, %w0 : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    ...
    ```
  }];
  let options = [
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split product; nothing happens with 1">,
  ];
}

def ChooseSplits : Pass<"dtc-choose-splits", "::mlir::ModuleOp"> {
  let summary = "chooses what tensor parallelism splits";
  let description = [{
    Runs on the forward graph with its loss, where every parameter has the
    dimensions that the model gives it. Dimensions that the ops' sharding rules
    tie together are one class: the heads of an attention through projections,
    scores and output; the inner width of an MLP. A class is split if no op
    needs it whole and some op sums over it, so that the split ends in one
    reduction: Megatron-LM's column and row splits (arXiv 1909.08053) follow. Of
    classes that meet in an op, the one with fewer sums is split. Sizes that tp
    does not divide are an error; a vocabulary is left to `PadVocabulary`, or
    stays whole with a warning that says why. `layout` comes before all that:
    `GLOB=tp:split(DIM)` splits the class of a dimension of the parameters of
    such names, `GLOB=replicated` keeps theirs whole.
    Writes `dtc.split_dims` on parameters, and with `sp` on the ops where the values
    between split parts begin (arXiv 2205.05198).

    ```mlir
    %w1: tensor<512x128xf32> {dtc.parameter = "fc1.weight"},
    %w2: tensor<128x512xf32> {dtc.parameter = "fc2.weight"}
    // becomes
    %w1: tensor<512x128xf32> {dtc.parameter = "fc1.weight", dtc.split_dims = {tp = 0}},
    %w2: tensor<128x512xf32> {dtc.parameter = "fc2.weight", dtc.split_dims = {tp = 1}}
    ```
  }];
  let options = [
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split product">,
    Option<"sp", "sp", "bool", "false", "Split the values between along the sequence">,
    ListOption<"layout", "layout", "std::string", "GLOB=tp:split(DIM) or GLOB=replicated, of parameters">,
  ];
}

def PadVocabulary : Pass<"dtc-pad-vocabulary", "::mlir::ModuleOp"> {
  let summary = "pads vocabularies up to a multiple of tp";
  let description = [{
    Where `ChooseSplits` splits a vocabulary that tp does not divide, its
    dimension of all parameters and values becomes the next multiple of tp.
    Lookups never see the rows that this adds. Logits have columns that are no
    classes, which the loss leaves out of its maximum and sum; their gradient is
    zero, so what is padded stays zero. Logits that are a result themselves are
    minus infinity there. `dtc.part` has the shape of the model's
    tensor: files hold that.

    ```mlir
    %wte: tensor<13x4xf32> {dtc.parameter = "wte", dtc.split_dims = {tp = 0}}
    %z = dtc.matmul %x, %wte {transpose_rhs} : (tensor<6x4xf32>, tensor<13x4xf32>) -> tensor<6x13xf32>
    %l = dtc.cross_entropy %z, %t : (tensor<6x13xf32>, tensor<6xi64>) -> tensor<f64>
    // becomes, for two ranks
    %wte: tensor<14x4xf32> {dtc.parameter = "wte", dtc.split_dims = {tp = 0}, dtc.part = {tensor = "wte", shape = array<i64: 13, 4>, dim = 0, start = 0}}
    %z = dtc.matmul %x, %wte {transpose_rhs} : (tensor<6x4xf32>, tensor<14x4xf32>) -> tensor<6x14xf32>
    %l = dtc.cross_entropy %z, %t {classes = 13} : (tensor<6x14xf32>, tensor<6xi64>) -> tensor<f64>
    ```
  }];
  let options = [
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split product; nothing happens with 1">,
  ];
}

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
    * What does not depend on the micro-batch, but has rows for it, is made for
      one micro-batch, if it repeats: repeated values, constants whose rows are
      equal or repeat in groups, and what is made of such.
    * With one micro-batch, what a value of it needs belongs to it, be it a sum
      over the batch: only gradients and what the step returns leave it.

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
    replicated by an all-reduce or split by a reduce-scatter. An axis that
    splits another dimension moves there by an all-to-all, if it is the minor
    split of the one and becomes the next of the other; axes that split a
    dimension into as many shards take the place of others by a permutation.
    What remains is gathered where it is split, and sliced where it is to be.
    The partial axes of one value are reduced at once, over their product.

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
}

#endif // DTC_PARALLEL_PASSES_TD
