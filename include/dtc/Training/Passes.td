//===- Passes.td - passes of the training phase ------------*- tablegen -*-===//

#ifndef DTC_TRAINING_PASSES_TD
#define DTC_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def MixedPrecision : Pass<"dtc-mixed-precision", "mlir::ModuleOp"> {
  let summary = "Compute matmuls, and store activations, in 16 bits";
  let description = [{
    Casts trained parameters and inputs to `type` where the model uses them. The
    types of values that are computed from them follow. All operands of matmuls
    are cast. An elementwise op with a 16-bit operand has a 16-bit result. All
    arithmetic is f32 (`dtc/Support/ElementType.h`), and a value is rounded when
    it is stored. These stay f32: the parameters themselves ("master weights"),
    optimizer state, gradients of parameters, results of reductions, statistics,
    buffers, values that are computed from these alone, and losses.
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
  let summary = "Append the gradients of the loss with respect to the parameters";
  let description = [{
    Differentiates the ops on paths from a trained parameter to the loss in
    reverse mode, with DifferentiableInterface. A parameter that matches a glob
    of `freeze`, that is not floating-point, or that the loss does not depend on
    gets `dtc.frozen` and no gradient. Reports all ops without a gradient as
    errors. Paths end at `dtc.stop_gradient`, and the pass removes these ops.

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
  let summary = "Join gradients that are sums over positions into one op";
  let description = [{
    A layer that runs once per position uses its weights at each position. Then the
    gradient of a weight is a sum of matmuls, and the gradient of a sliced input
    is a sum of pads. Pads of consecutive ranges become one concatenation. Matmuls
    with `transpose_lhs` become matmuls of concatenations. A layer's outputs, and
    the gradients of its inputs, are often concatenated already, because another
    weight's gradient reads them: then the operand is a slice of that value. Other
    terms are joined in groups whose operands have no more elements than the
    result, so that the step needs at most the memory of one more gradient. Sizes
    are those of one rank and micro-batch. Ops with attributes of a plan stay.

    Before:
    ```mlir
    %p0 = dtc.pad %a axis 0 at 0 : (tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
    %p1 = dtc.pad %b axis 0 at 1 : (tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
    %dx = dtc.add %p1, %p0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %w0 = dtc.matmul %c, %d {transpose_lhs} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
    %w1 = dtc.matmul %e, %f {transpose_lhs} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
    %dw = dtc.add %w1, %w0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    ```
    After, with reshapes that keep the batch as one dimension of the operands:
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
           "product of the numbers of ranks and micro-batches that divide the batch">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def FlattenParameters : Pass<"dtc-flatten-parameters", "mlir::ModuleOp"> {
  let summary = "Flatten parameters into buckets that split evenly over dp (ZeRO)";
  let description = [{
    Implements ZeRO (arXiv 1910.02054). The trained parameters of a stage form
    buckets, in the order in which their gradients are complete: they are
    flattened, concatenated and padded with zeros to a multiple of dp. A bucket is
    one flat parameter with one gradient, and its members are slices of it. The
    parameter, gradient and state are split on dp (and on tp, if the members are).
    Layout propagation derives all collectives from that. With `hsdp` the mesh
    axis `shard` takes the place of dp.

    * Stage 1: buckets of up to `bucket-mb` MiB are gathered once per step.
    * Stage 2: gradients are reduce-scattered for each micro-batch, so that only a
      shard accumulates. A gradient that several stages add to is an exception: it
      is reduce-scattered once per step.
    * Stage 3: buckets are gathered wherever they are used (`gather` is `layer` or
      a pattern, see `--gather`) or once per step (`step`).

    ```mlir
    func.func @step(..., %p: tensor<5x3xf32> {dtc.parameter = "p"}) -> (..., tensor<5x3xf32> {dtc.gradient = "p"})
    // becomes, for a single parameter on four ranks
    func.func @step(..., %pf: tensor<1x16xf32> {dtc.parameter = "/bucket0", dtc.members = [...], dtc.split_dims = {dp = 1}})
        -> (..., tensor<1x16xf32> {dtc.gradient = "/bucket0", dtc.members = [...]}) {
      %p = dtc.reshape (dtc.slice %pf axis 1 from 0 {view}) : (tensor<1x15xf32>) -> tensor<5x3xf32>
      ...
      %gf = dtc.pad (dtc.reshape %g) axis 1 at 0 {dtc.split_dims = {dp = 1}} : (tensor<1x15xf32>) -> tensor<1x16xf32>
    ```
    Invariant: all ops on a whole flat parameter are elementwise, so padding stays
    zero and members do not mix.
  }];
  let options = [
    Option<"zero", "zero", "int64_t", "0", "ZeRO stage, 0 to 3; with 0 the pass does nothing">,
    Option<"dp", "dp", "int64_t", "1", "ranks that share the batch">,
    Option<"hsdp", "hsdp", "int64_t", "1", "size of the ZeRO sharding group within dp">,
    Option<"ep", "ep", "int64_t", "1", "ranks of dp that share the experts">,
    Option<"tp", "tp", "int64_t", "1", "ranks that share each split parameter">,
    Option<"bucketMb", "bucket-mb", "int64_t", "25", "MiB of parameters in a bucket, for stages 1 and 2">,
    Option<"gather", "gather", "std::string", "\"layer\"", "parameters that stage 3 gathers together: layer, step or a pattern">,
    Option<"offload", "offload", "std::string", "\"none\"", "tensors in host memory: none, state or parameters; with parameters, a single rank gathers, too">,
    Option<"align", "align", "int64_t", "1", "divisor of the members' starts, and of the elements of a bucket that each rank of dp has">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def ExchangeGradients : Pass<"dtc-exchange-gradients", "mlir::ModuleOp"> {
  let summary = "Exchange codes of gradients, or gradients of earlier steps";
  let description = [{
    Replaces each gradient by the sum of the values that the codes of the ranks
    stand for. `dtc.terms` makes the ranks' terms of the gradient a dimension,
    which dp splits; encoding and decoding are elementwise ops and reductions on
    it, and codes are exchanged where `dtc.split_dims` asks for another layout.
    Gradients are compressed in buckets; with ZeRO these are its own. Scales and
    selections are of each parameter, so buckets change no number.

    With `delay` T, the sum is that of the terms of T steps ago, which states
    "NAME.waiting1" to "NAME.waitingT" have. It depends on nothing that the step
    computes, so its exchange starts with the step.

    With error feedback, the error of a rank's codes is added to its gradient of
    the next step: state "NAME.residual" (Karimireddy et al., arXiv 1901.09847).
    Codes of a sum have "NAME.sum_residual" (Tang et al., arXiv 1905.05957).
    With ef21, codes are those of the difference of a gradient from "NAME.
    estimate", which all codes so far stand for (Richtárik et al., arXiv
    2106.05203). With dgc:M, errors are those of a rank's "NAME.velocity" (Lin et
    al., arXiv 1712.01887).

    ```mlir
    func.func @step(..., %w: tensor<64x4xf32> {dtc.parameter = "w"}) -> (..., tensor<64x4xf32> {dtc.gradient = "w"})
    // becomes, for topk:0.25 on two ranks
    func.func @step(..., %w: tensor<64x4xf32> {dtc.parameter = "w"},
                    %e: tensor<2x1x256xf32> {dtc.state = "/gradients0.residual", dtc.members = [...], dtc.split_dims = {dp = 0}})
        -> (..., tensor<2x1x256xf32> {dtc.state = "/gradients0.residual"}, tensor<64x4xf32> {dtc.gradient = "w"}) {
      %t = dtc.terms (dtc.reshape %g) over "dp" : tensor<1x256xf32> -> tensor<2x1x256xf32>
      %p = dtc.add %t, %e
      %i = dtc.top_k %p : (tensor<2x1x256xf32>) -> tensor<2x1x64xi32>
      %v = dtc.gather %p, %i {batch_dims = 2 : i64}
      %s = dtc.scatter_add %i, %v {batch_dims = 2 : i64}
      %j = dtc.reshape %i {dtc.split_dims = {dp = -1}} // all ranks get all codes
      %u = dtc.reshape %v {dtc.split_dims = {dp = -1}}
      ... = dtc.scatter_add (ranks of %j joined), (ranks of %u joined) {batch_dims = 1 : i64}
      %e1 = dtc.keep %e, (dtc.sub %p, %s)
    ```
  }];
  let options = [
    Option<"compressor", "compressor", "std::string", "\"none\"", "name in the table of Compressors.h, with its number: topk:0.01">,
    Option<"delay", "delay", "int64_t", "0", "age, in steps, of the gradients that are applied">,
    Option<"errorFeedback", "error-feedback", "std::string", "\"on\"", "use of the errors of codes: on, ef21, dgc:M or off">,
    Option<"dp", "dp", "int64_t", "1", "ranks that share the batch">,
    Option<"hsdp", "hsdp", "int64_t", "1", "size of the ZeRO sharding group within dp">,
    Option<"tp", "tp", "int64_t", "1", "ranks that share each split parameter">,
    Option<"bucketMb", "bucket-mb", "int64_t", "25", "MiB of gradients in a bucket, without ZeRO">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def AddOptimizer : Pass<"dtc-add-optimizer", "mlir::ModuleOp"> {
  let summary = "Append the gradient norm and the optimizer's updates";
  let description = [{
    Adds the inputs `lr` and `step`, the optimizer state as arguments and
    results with PyTorch's names, and the norm of the global gradient: squares
    are summed on each stage, then over stages. With `clip-norm` updates use
    gradients that `dtc.clip_by_norm` has scaled; the results `dtc.gradient` and
    `grad_norm` are not scaled. Parameters that `--no-decay` selects have
    `weight_decay` 0, and those that `--lr-scale` selects a multiple of `lr`.
    With `served`, the gradient that an update takes is a state, "NAME.pushed",
    which `dtc.pushed` reads (ServeParameters).

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
           "name in the table of Optimizers.h">,
    ListOption<"settings", "settings", "std::string",
               "settings NAME=NUMBER that differ from the optimizer's defaults">,
    Option<"clipNorm", "clip-norm", "double", "0",
           "limit of the global gradient norm; 0: none">,
    Option<"ema", "ema", "double", "0",
           "decay of a moving average of each trained parameter; 0: none">,
    Option<"skipNonFinite", "skip-nonfinite", "bool", "false",
           "skip the update if the norm is NaN or infinite, as with a loss "
           "scale; the input `updates` replaces `step`">,
    Option<"served", "served", "bool", "false",
           "updates take the gradients that workers have pushed to a server">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def BuildEval : Pass<"dtc-build-eval", "mlir::ModuleOp"> {
  let summary = "Append the sums that an evaluation returns";
  let description = [{
    Replaces the result `predictions` by the result `eval`, a vector of sums over
    the global batch in double precision. `dtc.sums` names them: plain losses
    and their number; losses with label smoothing and class weights, if they
    differ; correct predictions; labels among the five largest logits; and, by
    class, correct predictions, predictions and labels.
    docs/Architecture/Training.md lists the sums of each loss. Runs after the
    passes that build the training, which does not depend on it. CSE merges the
    ops that loss and evaluation share.

    A prediction is correct if the label's logit is larger than that of every
    other class; a tie is wrong. With `bce`, a logit is correct if it has the sign
    of its target.

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
      ...                                                              // %n: number of correct predictions
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
           "number of replicas of the batch, if only the launch sets it; else 0">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def SynchronizeWorkers : Pass<"dtc-synchronize-workers", "mlir::ModuleOp"> {
  let summary = "Mix the parameters of workers that train apart";
  let description = [{
    With `sync` every:H or gossip:TOPOLOGY, each position of dp is a worker with
    parameters and optimizer state of its own: AssignMesh makes them `each`. The
    pass adds what workers exchange. `dtc.terms` makes the workers' values rows
    of a tensor, and `dtc.own_row` gives each worker its row.

    Results with `dtc.program` belong to programs between steps. `dtc.turn` says
    after which steps one runs. Program "average" replaces each worker's
    parameters by their mean (on request: for evaluations and saved weights).
    The sums of an evaluation are those of all workers.

    every:H has a program "sync" of period H (Stich, arXiv 1805.09767), or one
    for each of P fragments of the parameters, H / P steps apart. With outer
    Nesterov, the change of the mean since the last one is a gradient (Douillard
    et al., arXiv 2311.08105): states "NAME.anchor" and "NAME.outer_momentum",
    which all workers share.

    gossip mixes in the step: w' = update(w) + (W w - w), where W has the weights
    of neighbours (Mixing.h; Lian et al., arXiv 1705.09056). The exchange of W w
    depends on nothing that the step computes. one-peer, whose neighbours change,
    has a program for each of its rounds after the step.

    ```mlir
    func.func @step(..., %w: tensor<8xf32> {dtc.parameter = "w"}) -> (..., tensor<8xf32> {dtc.parameter = "w"})
    // becomes, for every:20 on two ranks
    func.func @step(..., %w: tensor<8xf32> {dtc.parameter = "w"}) -> (..., tensor<8xf32> {dtc.parameter = "w"},
        tensor<8xf32> {dtc.parameter = "w", dtc.program = "sync", dtc.turn = array<i64: 20, 0>},
        tensor<8xf32> {dtc.parameter = "w", dtc.program = "average"}) {
      ...
      %t = dtc.terms %w over "dp" : tensor<8xf32> -> tensor<2x8xf32>
      %s = dtc.reshape (dtc.reduce_sum %t axes [0]) {dtc.split_dims = {dp = -1}}   // an all-reduce
      %m = dtc.div %s, %two
      %o = dtc.own_row (dtc.broadcast %m) over "dp" : tensor<2x8xf32> -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"sync", "sync", "std::string", "\"step\"", "as --sync">,
    Option<"workers", "workers", "int64_t", "1", "Positions of dp">,
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split product">,
    Option<"bucketMb", "bucket-mb", "int64_t", "25", "Size limit in MiB of what gossip exchanges at once">,
  ];
}

def ServeParameters : Pass<"dtc-serve-parameters", "mlir::ModuleOp"> {
  let summary = "Let a server update parameters in the order in which gradients arrive";
  let description = [{
    For --sync async:S. The first position of dp is the server of the others,
    the workers. The step of a worker ends with what it pushes: states
    "NAME.pushed", which AddOptimizer has made of gradients, and this pass of
    changes of running statistics. Program "apply", which the server runs for
    each push, has the updates. All parameters and other states are the
    server's: workers have copies of them (`dtc.shared`).

    ```mlir
    func.func @step(..., %w {dtc.parameter = "w"}, %p {dtc.state = "w.pushed"})
        -> (%loss {dtc.output = "loss"}, %g {dtc.state = "w.pushed"}, %w1 {dtc.parameter = "w"}) {
      %g = ...                                       // of the worker's share
      %x = dtc.pushed %p over "dp"
      %w1 = dtc.sgd %w, %x, %lr
    // becomes
    func.func @step(..., %w {dtc.parameter = "w", dtc.shared}, %p {dtc.state = "w.pushed", dtc.transient})
        -> (%loss {dtc.output = "loss"}, %g {dtc.state = "w.pushed"},
            %w1 {dtc.parameter = "w", dtc.program = "apply"})
    ```
    A running statistic changes by the mean of the workers' changes: each push
    adds its change, divided by the number of workers. The sums of an evaluation
    are those of the workers.
  }];
  let options = [
    Option<"workers", "workers", "int64_t", "1", "Positions of dp without the server">,
  ];
}

#endif // DTC_TRAINING_PASSES_TD
