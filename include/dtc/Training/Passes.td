//===- Passes.td - passes of the training phase ------------*- tablegen -*-===//

#ifndef DTC_TRAINING_PASSES_TD
#define DTC_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertBoundaries : Pass<"dtc-insert-boundaries", "mlir::ModuleOp"> {
  let summary = "make every crossing of stages a dtc.boundary";
  let description = [{
    Consumes the `dtc.stage` of ops. A value that later stages use is relayed
    from stage to stage up to its last user. A parameter used on several stages
    (a tied embedding) is owned by the first of them and crosses directly from
    it to each other.

    Before:
    ```mlir
    %0 = dtc.matmul %x, %w {dtc.stage = 0 : i64} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = dtc.matmul %0, %w {dtc.stage = 1 : i64} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    ```
    After:
    ```mlir
    %0 = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %w1 = dtc.boundary %w from 0 to 1 : tensor<4x4xf32>
    %01 = dtc.boundary %0 from 0 to 1 : tensor<8x4xf32>
    %1 = dtc.matmul %01, %w1 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def AddLoss : Pass<"dtc-add-loss", "mlir::ModuleOp"> {
  let summary = "append labels and the loss; @forward becomes @step";
  let description = [{
    The loss is a sum over the global batch in double precision, divided by a
    count: a constant, the number of labels that are not ignored, or the sum of
    their classes' weights. It and the predictions that it is taken of, classes
    last, become results, and unless the model computes the loss, so does the
    model's output as it is (`recorded`). What computed other outputs alone is
    removed.
    Smoothed and weighted cross-entropy and `bce` are
    built from tensor ops.

    An input that indexes a table, or holds labels of so many classes, gets
    `dtc.bound`, one for all elements of a sample or one for each; labels with
    an ignored value get `dtc.ignore_index`.

    Before:
    ```mlir
    func.func @forward(%x: tensor<8x4xf32> {dtc.input = "x"}, ...) -> (tensor<8x4xf32> {dtc.output = "y"}) {
      ...
      return %y : tensor<8x4xf32>
    ```
    After, with `loss=cross-entropy`:
    ```mlir
    func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                    %t: tensor<8xi64> {dtc.input = "labels", dtc.kind = "label"}, ...)
        -> (tensor<f64> {dtc.output = "loss"}, tensor<8x4xf32> {dtc.output = "predictions"},
            tensor<8x4xf32> {dtc.output = "recorded"}) {
      ...
      %0 = dtc.cross_entropy %y, %t : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<f64>
      %n = dtc.constant dense<8.0> : tensor<f64> to tensor<f64>
      %1 = dtc.div %0, %n : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %2 = dtc.sum_over_stages %1 : (tensor<f64>) -> tensor<f64>
      return %2, %y, %y : tensor<f64>, tensor<8x4xf32>, tensor<8x4xf32>
    ```
  }];
  let options = [
    Option<"loss", "loss", "std::string", "TrainingOptions().loss",
           "cross-entropy, bce, mse, or output[:NAME] if the model computes it">,
    Option<"output", "output", "std::string", "",
           "the output that the loss is taken of, if there are several">,
    Option<"ignoreIndex", "ignore-index", "std::string", "",
           "integer; labels with this value do not count">,
    Option<"classAxis", "class-axis", "int64_t", "TrainingOptions().classAxis",
           "dimension of the classes, negative from the end">,
    Option<"reduction", "reduction", "std::string", "TrainingOptions().reduction",
           "mean or sum over the global batch">,
    Option<"labelSmoothing", "label-smoothing", "double", "TrainingOptions().labelSmoothing",
           "share of each label that is spread over all classes">,
    ListOption<"classWeights", "class-weights", "double", "a weight for each class">,
    Option<"replicas", "replicas", "int64_t", "0",
           "Of how many replicas the batch is, if that is known at launch only">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def ExpandTrainingOps : Pass<"dtc-expand-training-ops", "mlir::ModuleOp"> {
  let summary = "give batch norm and dropout their meaning in training and in evaluations";
  let description = [{
    Batch norm and dropout compute something else in an evaluation
    (EvaluationInterface). From the first such op on, what the predictions need
    is computed a second time, and the predictions become those of an
    evaluation. CSE merges what turns out not to differ.

    ```mlir
    %y = dtc.dropout %x, %seed, %step {id = 1 : i64, probability = 2.0e-1 : f64} : ... -> tensor<8x4xf32>
    %z = dtc.matmul %y, %w : ...
    %l = dtc.squared_error %z, %t : ...
    return %l, %z : ... // "loss", "predictions"
    // becomes
    %k = dtc.reshape (dtc.slice (dtc.add %seed, %distances) axis 0 from 1 {view}) : (tensor<1xi64>) -> tensor<i64>
    %u = dtc.random_uniform %k, %step {id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<8x4xf32>
    %keep = dtc.compare ge %u, %fifth : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xi1>
    %s = dtc.mul %x, %scale : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    %y = dtc.select %keep, %s, %zero : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    %z = dtc.matmul %y, %w : ...
    %l = dtc.squared_error %z, %t : ...
    %e = dtc.matmul %x, %w : ...
    return %l, %e : ...
    ```
    Random ops of one seed, whose numbers differ by their ids, get a key each:
    the seed plus a multiple of a large odd number. Their ids become 0, so that
    layers that are alike become equal kernels.

    A `batch_norm` becomes sums over the batch and elementwise ops, and `@step`
    returns the new running statistics, once a step: the old ones times
    momentum, and the mean, over the parts of the batch that have statistics, of
    mean and unbiased variance. These parts are the whole batch (`global`, only
    with one micro-batch), the micro-batches (`micro`), the ranks' parts of
    these (`local`, as PyTorch's DDP). They become a dimension of the values,
    that which micro-batches and ranks split. With `frozen` the running
    statistics normalise and stay, as in all ops that are `running`.

    ```mlir
    %y = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} :
        (tensor<8x4xf32>, tensor<4xf32>, ...) -> tensor<8x4xf32>
    // becomes, of two micro-batches
    %g = dtc.reshape %x : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
    %sum = dtc.reduce_sum %g axes [1] : (tensor<2x4x4xf32>) -> tensor<2x1x4xf32>
    %mean = dtc.mul %sum, %quarter : (tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x1x4xf32>
    %c = dtc.sub %g, %mean : (tensor<2x4x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
    ...
    %m1 = dtc.average %m, %mean_of_means {decay = 0.9 : f64} : ...
    ```
  }];
  let options = [
    Option<"statistics", "statistics", "std::string", /*default=*/"\"global\"",
           "Which part of the batch normalises: global, micro, local or frozen">,
    Option<"microbatches", "microbatches", "int64_t", /*default=*/"1",
           "Micro-batches of a step">,
    Option<"dp", "dp", "int64_t", /*default=*/"1", "Data parallel ranks">,
    Option<"replicas", "replicas", "int64_t", "0",
           "Of how many replicas the batch is, if that is known at launch only">,
  ];
}

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
