//===- Passes.td - passes of the training phase ------------*- tablegen -*-===//

#ifndef DTC_TRAINING_PASSES_TD
#define DTC_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def MixedPrecision : Pass<"dtc-mixed-precision", "mlir::ModuleOp"> {
  let summary = "compute products, and store activations, in 16 bits";
  let description = [{
    Casts trained parameters and inputs to `type` where the model uses them; the
    types of what is computed from them follow. Operands of products are cast,
    whatever they come from. An elementwise op with one narrow operand has a
    narrow result; all arithmetic is f32 (`dtc/Support/ElementType.h`), and a
    value is rounded where it is stored. f32 stay: parameters themselves
    ("master weights"), optimizer state, gradients of parameters, results of
    reductions, statistics, buffers, what is computed from these alone, losses.
    (Micikevicius et al., arXiv 1710.03740; Kalamkar et al., arXiv 1905.12322.)

    Before:
    ```mlir
    %0 = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = dtc.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
    After, with `type=bf16`:
    ```mlir
    %0 = dtc.cast %x : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    %1 = dtc.cast %w : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %2 = dtc.matmul %0, %1 : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xbf16>
    %3 = dtc.relu %2 : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", "\"fp32\"", "fp32, bf16 or fp16">,
  ];
}

def Differentiate : Pass<"dtc-differentiate", "mlir::ModuleOp"> {
  let summary = "append the gradients of the loss by the parameters";
  let description = [{
    Reverse-mode differentiation by DifferentiableInterface of what lies on a
    path from a trainable parameter to the loss. Parameters that match a glob
    of `freeze`, that are not floating-point, or that the loss does not depend
    on get `dtc.frozen` and no gradient. Ops without a gradient are errors, all
    of them reported. No path leads through `dtc.stop_gradient`, of which none
    is left.

    Before:
    ```mlir
    func.func @step(..., %w: tensor<4x4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
      %y = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      ...
    ```
    After:
    ```mlir
    func.func @step(...) -> (tensor<f64> {dtc.output = "loss"}, tensor<4x4xf32> {dtc.gradient = "w"}) {
      ...
      %dw = dtc.matmul %x, %dy {transpose_lhs} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      return %loss, %dw : tensor<f64>, tensor<4x4xf32>
    ```
  }];
  let options = [
    ListOption<"freeze", "freeze", "std::string",
               "globs of names of parameters that are not trained">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def JoinGradients : Pass<"dtc-join-gradients", "mlir::ModuleOp"> {
  let summary = "sums with a term for each position become one op";
  let description = [{
    A layer that runs once per position uses its weights as often. Then their
    gradient is a sum of products, and that of what it takes slices of is a sum
    of pads. Pads of ranges that follow each other become one concatenation.
    Products `transpose_lhs` become products of concatenations. A layer's outputs,
    and the gradients of its inputs, are concatenated already: an operand whose
    parts follow each other in a value of which another weight's gradient is a
    product is a slice of it. Of others as many terms are joined at a time as
    have no more elements in their operands than the result, so that the step
    needs no more memory than for one more gradient. Sizes are those that a rank
    has of a micro-batch. Ops with attributes of a plan stay.

    Before:
    ```mlir
    %p0 = dtc.pad %a axis 0 at 0 : (tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
    %p1 = dtc.pad %b axis 0 at 1 : (tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
    %dx = dtc.add %p1, %p0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %w0 = dtc.matmul %c, %d {transpose_lhs} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
    %w1 = dtc.matmul %e, %f {transpose_lhs} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
    %dw = dtc.add %w1, %w0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    ```
    After, with reshapes so that the batch stays one dimension of what is joined:
    ```mlir
    %dx = dtc.concat %a, %b axis 0 : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
    ...
    %ce = dtc.concat %c1, %e1 axis 0 : (tensor<1x4x64xf32>, tensor<1x4x64xf32>) -> tensor<2x4x64xf32>
    %l = dtc.reshape %ce : (tensor<2x4x64xf32>) -> tensor<8x64xf32>
    ...
    %dw = dtc.matmul %l, %r {transpose_lhs} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
    ```
  }];
  let options = [
    Option<"parts", "parts", "int64_t", /*default=*/"1",
           "Ranks and micro-batches that divide the batch">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def FlattenParameters : Pass<"dtc-flatten-parameters", "mlir::ModuleOp"> {
  let summary = "lay parameters in flat ones that split evenly over dp (ZeRO)";
  let description = [{
    ZeRO (arXiv 1910.02054). Trained parameters of one stage, in the order in
    which their gradients are complete, form buckets: flattened, joined and padded
    with zeros to a multiple of dp. A bucket is one parameter, of which its
    members are slices, with one gradient. Parameter, gradient and state are
    split on dp (and on tp, where the members are), from which all else follows
    when layouts are propagated. With `hsdp` the mesh axis `shard` takes the place
    of dp.

    * Stage 1: buckets of up to `bucket-mb` MiB, gathered once a step.
    * Stage 2: the gradient is reduce-scattered for each micro-batch, so that what
      accumulates is a shard. Except those that other stages add to, once a step.
    * Stage 3: buckets are gathered wherever they are used (`gather` is `layer` or
      a pattern, see `--gather`) or once a step (`step`).

    ```mlir
    func.func @step(..., %p: tensor<5x3xf32> {dtc.parameter = "p"}) -> (..., tensor<5x3xf32> {dtc.gradient = "p"})
    // becomes, of a parameter alone on four ranks
    func.func @step(..., %pf: tensor<1x16xf32> {dtc.parameter = "/bucket0", dtc.members = [...], dtc.split_dims = {dp = 1}})
        -> (..., tensor<1x16xf32> {dtc.gradient = "/bucket0", dtc.members = [...]}) {
      %p = dtc.reshape (dtc.slice %pf axis 1 from 0 {view}) : (tensor<1x15xf32>) -> tensor<5x3xf32>
      ...
      %gf = dtc.pad (dtc.reshape %g) axis 1 at 0 {dtc.split_dims = {dp = 1}} : (tensor<1x15xf32>) -> tensor<1x16xf32>
    ```
    Invariant: all that is done with a flat parameter alone is elementwise, so
    padding stays zero and members do not mix.
  }];
  let options = [
    Option<"zero", "zero", "int64_t", "0", "Stage of ZeRO: 0 to 3; nothing happens with 0">,
    Option<"dp", "dp", "int64_t", "1", "Ranks that share the batch">,
    Option<"hsdp", "hsdp", "int64_t", "1", "How many of these form a group that ZeRO splits over">,
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split parameter">,
    Option<"bucketMb", "bucket-mb", "int64_t", "25", "MiB of parameters in a bucket, stages 1 and 2">,
    Option<"gather", "gather", "std::string", "\"layer\"", "What stage 3 gathers together">,
    Option<"offload", "offload", "std::string", "\"none\"", "What lies in the host's memory; one rank alone gathers parameters from there">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def AddOptimizer : Pass<"dtc-add-optimizer", "mlir::ModuleOp"> {
  let summary = "append the gradient norm and the optimizer's updates";
  let description = [{
    Adds the inputs `lr` and `step`, the optimizer state as arguments and
    results, under PyTorch's names, and the norm of the global gradient: sums
    of squares are added on each stage, then over stages. With `clip-norm`
    updates are given gradients scaled by `dtc.clip_by_norm`; the results
    `dtc.gradient` and `grad_norm` are those before. Parameters that `no-decay`
    names are updated with `weight_decay` 0, those that `lr-scale` names with a
    multiple of `lr`.

    Before:
    ```mlir
    func.func @step(..., %w {dtc.parameter = "w"}) -> (loss {dtc.output = "loss"}, %dw {dtc.gradient = "w"})
    ```
    After, with `optimizer=sgd settings=momentum=0.9`:
    ```mlir
    func.func @step(..., %lr {dtc.input = "lr", dtc.kind = "lr"}, %step {dtc.input = "step", dtc.kind = "step"},
                    %w {dtc.parameter = "w"}, %m {dtc.state = "w.momentum_buffer"})
        -> (loss {dtc.output = "loss"}, norm {dtc.output = "grad_norm"}, %w1 {dtc.parameter = "w"},
            %m1 {dtc.state = "w.momentum_buffer"}, %dw {dtc.gradient = "w"})
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "TrainingOptions().optimizer",
           "one of the table in Optimizers.h">,
    ListOption<"settings", "settings", "std::string",
               "NAME=NUMBER, instead of the optimizer's defaults">,
    Option<"clipNorm", "clip-norm", "double", "0",
           "scale gradients down to this global norm; 0: do not">,
    Option<"ema", "ema", "double", "0",
           "decay of a moving average of each trained parameter; 0: none">,
    Option<"skipNonFinite", "skip-nonfinite", "bool", "false",
           "leave parameters and state as they are where the norm is NaN or "
           "infinite, as with a loss scale: the input is `updates` instead of "
           "`step`">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def BuildEval : Pass<"dtc-build-eval", "mlir::ModuleOp"> {
  let summary = "append the sums that an evaluation returns";
  let description = [{
    Replaces the result `predictions` by the result `eval`, a vector of sums over
    the global batch in double precision, which `dtc.sums` names: of plain
    losses and of their number; if they differ, of losses with label smoothing
    and class weights; of right predictions; of labels among the five largest
    logits; and, by class, of right predictions, predictions and labels.
    docs/Architecture/Training.md says which losses have which. After the passes
    that train, which do not depend on it; CSE merges what loss and evaluation
    share.

    A label is right if its logit is larger than that of every other class: a tie
    is wrong. With `bce`, a logit is right if its sign is its target's.

    Before, with logits %y and labels %t:
    ```mlir
      return %loss, %y, ... : tensor<f64>, tensor<8x4xf32>, ...      // {dtc.output = "predictions"}
    ```
    After, with `loss=cross-entropy`:
    ```mlir
      %s = dtc.cross_entropy %y, %t : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<f64>
      %h = dtc.one_hot %t : (tensor<8xi64>) -> tensor<8x4xi1>
      %own = dtc.reduce_sum (dtc.select %h, %y, %zero) axes [1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
      %smaller = dtc.compare lt %y, %own : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xi1>
      %below = dtc.reduce_sum (dtc.select %smaller, %one, %zero) axes [1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
      %r = dtc.compare ge %below, %three : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xi1>
      ...                                                              // %n: their number
      %e = dtc.concat %s, %count, %n, ... axis 0 : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, ...) -> tensor<15xf64>
      %eval = dtc.sum_over_stages %e : (tensor<15xf64>) -> tensor<15xf64>
      return %loss, %eval, ... : tensor<f64>, tensor<15xf64>, ...     // {dtc.output = "eval", dtc.sums = [{name = "loss", size = 1}, ...]}
    ```
  }];
  let options = [
    Option<"loss", "loss", "std::string", "TrainingOptions().loss", "as for dtc-add-loss">,
    Option<"ignoreIndex", "ignore-index", "std::string", "",
           "integer; labels with this value do not count">,
    Option<"labelSmoothing", "label-smoothing", "double", "0", "as for dtc-add-loss">,
    ListOption<"classWeights", "class-weights", "double", "as for dtc-add-loss">,
    Option<"replicas", "replicas", "int64_t", "0",
           "Of how many replicas the batch is, if that is known at launch only">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

#endif // DTC_TRAINING_PASSES_TD
