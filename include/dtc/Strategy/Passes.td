//===- Passes.td - passes of the strategy phase ------------*- tablegen -*-===//

#ifndef DTC_STRATEGY_PASSES_TD
#define DTC_STRATEGY_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoveBatch : Pass<"dtc-move-batch", "::mlir::ModuleOp"> {
  let summary = "Move the batch to dimension 0 of results";
  let description = [{
    Transposes each result of `@forward` whose batch is another dimension, such
    as [tokens, batch, vocabulary], because the first dimension of all data,
    labels included, is the batch. Layouts show the batch dimension of a result.
    The result stays as it is if layouts show none or two, because the model
    mixes samples.

    ```mlir
    func.func @forward(%x: tensor<4x6xi64> {dtc.input = "x"}) -> tensor<6x4x30xf32> {
      ...
      return %y : tensor<6x4x30xf32>
    // becomes
    func.func @forward(%x: tensor<4x6xi64> {dtc.input = "x"}) -> tensor<4x6x30xf32> {
      ...
      %0 = dtc.transpose %y [1, 0, 2] : (tensor<6x4x30xf32>) -> tensor<4x6x30xf32>
      return %0 : tensor<4x6x30xf32>
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def ScaleBatch : Pass<"dtc-scale-batch", "::mlir::ModuleOp"> {
  let summary = "Change the batch size of a model with a fixed one";
  let description = [{
    Follows the batch from the inputs through the forward graph by the ops'
    sharding rules, as if its samples were micro-batches, and changes the size
    of each dimension that holds it. If the model repeats a value for each
    sample of the exported batch, such as a class token, the repetition is
    rebuilt. A model that mixes samples, or averages over them, cannot change
    its batch: this is an error.

    ```mlir
    %0 = dtc.transpose %x [1, 0, 2] : (tensor<2x5x16xf32>) -> tensor<5x2x16xf32>
    %1 = dtc.reshape %0 : (tensor<5x2x16xf32>) -> tensor<10x16xf32>
    // becomes, with batch=32
    %0 = dtc.transpose %x [1, 0, 2] : (tensor<32x5x16xf32>) -> tensor<5x32x16xf32>
    %1 = dtc.reshape %0 : (tensor<5x32x16xf32>) -> tensor<160x16xf32>
    ```
  }];
  let options = [
    Option<"batch", "batch", "int64_t", "0", "Samples in a step; 0 keeps the batch">,
  ];
}

def MarkParameters : Pass<"dtc-mark-parameters", "mlir::ModuleOp"> {
  let summary = "Mark parameters that the user names";
  let description = [{
    * `padding-idx=GLOB=N` sets `dtc.padding` of the lookups in tables that match:
      the row gets no gradient from them, as with `padding_idx` of
      torch.nn.Embedding, which dynamo's files keep and TorchScript's lose.
    * `no-decay=GLOB` sets `dtc.no_decay` of parameters that match, and
      `no-decay=norms-and-biases` of those of one dimension.
    * `lr-scale=GLOB=X` sets `dtc.lr_scale`.

    ```mlir
    func.func @forward(%i: ..., %table: ... {dtc.parameter = "embed"}, %b: ... {dtc.parameter = "bias"}) {
      %y = dtc.gather %table, %i : ...
    // becomes, with padding-idx=embed*=0 no-decay=bias
    func.func @forward(%i: ..., %table: ... {dtc.parameter = "embed"}, %b: ... {dtc.no_decay, dtc.parameter = "bias"}) {
      %y = dtc.gather %table, %i {dtc.padding = 0 : i64} : ...
    ```
  }];
  let options = [
    ListOption<"paddingIdx", "padding-idx", "std::string", "GLOB=N: no gradient for row N of lookup tables that match">,
    ListOption<"noDecay", "no-decay", "std::string",
               "Globs of parameters without weight decay, or norms-and-biases">,
    ListOption<"lrScale", "lr-scale", "std::string",
               "GLOB=X: multiply the learning rate of parameters that match by X">,
  ];
}

def FormAttention : Pass<"dtc-form-attention", "::mlir::ModuleOp"> {
  let summary = "Form attention ops";
  let description = [{
    Forms one op from a product of a softmax of a product, in each form that
    exporters write. Scores may be scaled, or queries and keys each. A mask may
    be added, or scores replaced by a number that absorbs them. Keys and values
    may be repeated for the heads of a group. A mask that follows from constants
    and hides later keys becomes `causal`. Transposes bring queries, keys and
    values into the op's order; those of the model cancel them.

    Does not form an op if scores or their softmax have other uses, if a dropout
    lies between, or if the mask has a gradient. The op is `divided` if it
    exceeds the limits of the target's runtime, which are options.

    ```mlir
    %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x16xf32>
    %t = dtc.mul %s, %scale : (tensor<2x4x16x16xf32>, tensor<f32>) -> tensor<2x4x16x16xf32>
    %p = dtc.softmax %t : (tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
    %o = dtc.matmul %p, %v : (tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
    // becomes
    %0 = dtc.transpose %q [0, 2, 1, 3] : (tensor<2x4x16x8xf32>) -> tensor<2x16x4x8xf32>
    // %1 of %k and %2 of %v alike
    %a, %lse = dtc.attention %0, %1, %2 {scale = 3.5e-1 : f64} : (tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>) -> (tensor<2x16x4x8xf32>, tensor<2x4x16xf32>)
    %o = dtc.transpose %a [0, 2, 1, 3] : (tensor<2x16x4x8xf32>) -> tensor<2x4x16x8xf32>
    ```
  }];
  let options = [
    Option<"maxWidth", "max-width", "int64_t",
           "std::numeric_limits<int64_t>::max()",
           "Maximum number of elements of a head that the runtime computes">,
    Option<"widthMultiple", "width-multiple", "int64_t", "1",
           "Divisor of the number of elements of a head that the runtime computes">,
  ];
}

def FormGroupedProducts : Pass<"dtc-form-grouped-products", "::mlir::ModuleOp"> {
  let summary = "Form products of rows by chosen matrices";
  let description = [{
    Forms one op from a gather of matrices of a stack, one for each index, and a
    product with these, on either side. A reshape may stand between if it keeps
    the matrices, and a select of NaN where an index is out of bounds, which moves
    to the rows. If an index has several rows, it is repeated for these. Constant
    indices stay: they copy matrices and choose nothing.

    ```mlir
    %m = dtc.gather %w, %e : (tensor<8x96x32xf32>, tensor<64xi64>) -> tensor<64x96x32xf32>
    %y = dtc.matmul %m, %x : (tensor<64x96x32xf32>, tensor<64x32x1xf32>) -> tensor<64x96x1xf32>
    // becomes
    %0 = dtc.reshape %x : (tensor<64x32x1xf32>) -> tensor<64x32xf32>
    %1 = dtc.grouped_matmul %0, %w, %e {transpose_weights} : (tensor<64x32xf32>, tensor<8x96x32xf32>, tensor<64xi64>) -> tensor<64x96xf32>
    %y = dtc.reshape %1 : (tensor<64x96xf32>) -> tensor<64x96x1xf32>
    ```
  }];
}

def BoundMasks : Pass<"dtc-bound-masks", "::mlir::ModuleOp"> {
  let summary = "Make masks of attention finite";
  let description = [{
    For targets whose library needs it (`Target::getAttentionLimits`). Numbers
    in a mask below -60000, such as -inf, become -60000, which hides a key as
    well. A query whose keys are all hidden would then attend to all of them
    equally; the pass detects it by its lse and sets its result to 0, as with
    -inf. The test is omitted if a constant mask leaves a key for each query.

    ```mlir
    %o, %lse = dtc.attention %q, %k, %v, %mask {scale = 3.5e-1 : f64} : (tensor<2x16x4x8xf32>, ..., tensor<2x1x1x16xf32>) -> (tensor<2x16x4x8xf32>, tensor<2x4x16xf32>)
    // becomes
    %0 = dtc.maximum %mask, %hidden : (tensor<2x1x1x16xf32>, tensor<f32>) -> tensor<2x1x1x16xf32>
    %1, %lse = dtc.attention %q, %k, %v, %0 ...
    %2 = dtc.compare gt %lse, %lowest : (tensor<2x4x16xf32>, tensor<f32>) -> tensor<2x4x16xi1>
    // %3 is %2 as tensor<2x16x4x1xi1>
    %o = dtc.select %3, %1, %zero : (tensor<2x16x4x1xi1>, tensor<2x16x4x8xf32>, tensor<f32>) -> tensor<2x16x4x8xf32>
    ```
  }];
}

def GuardSoftmax : Pass<"dtc-guard-softmax", "::mlir::ModuleOp"> {
  let summary = "Give softmaxes of rows of -inf a gradient";
  let description = [{
    If a query of attention may see no key, exporters replace the NaN of its
    softmax with zeros. The pass also replaces rows of -inf before the softmax.
    Otherwise their gradient would be NaN.

    ```mlir
    %p = dtc.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %n = dtc.compare ne %p, %p : ...
    %y = dtc.select %n, %zero, %p : ...
    // becomes
    %m = dtc.reduce_max %x axes [1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %s = dtc.compare gt %m, %inf : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xi1>  // -inf
    %r = dtc.select %s, %x, %zero : ...
    %p = dtc.softmax %r : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = dtc.select %s, %p, %zero : ...
    ```
  }];
}

def SplitFusedParameters : Pass<"dtc-split-fused-parameters", "::mlir::ModuleOp"> {
  let summary = "Split fused projections into separate products";
  let description = [{
    If a `dtc.split` cuts the last dimension of a product with a parameter, each
    part gets its own product and parameters, so that tensor parallelism can
    split each one. Biases and reshapes may lie between, also a reshape to `[..,
    3, heads, width]` before the 3 is cut. `dtc.part` names the tensor and the
    part that a parameter holds: files hold the tensors of the model.

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
    Option<"tp", "tp", "int64_t", "1", "Tensor parallel size; 1 changes nothing">,
  ];
}

def RepeatKeyHeads : Pass<"dtc-repeat-key-heads", "::mlir::ModuleOp"> {
  let summary = "Repeat heads of keys and values that tp does not divide";
  let description = [{
    Attention has `groups` heads of keys and values. If tp does not divide their
    number but divides the number of heads after repetition, each head is
    repeated, at most up to the number of heads of queries. Ranks with queries
    of one group then hold the same keys, as in Megatron-LM and vLLM. Products,
    norms and rotations compute each head separately, so the pass moves the
    repetition from their results to their operands, up to the parameters. The
    parameters stay whole, and their gradients are summed over tp once a step.

    With `tp=4`, of two heads of width 8:
    ```mlir
    %wk: tensor<16x32xf32> {dtc.parameter = "k.weight"}
    %0 = dtc.matmul %x, %wk {transpose_rhs} : (tensor<12x32xf32>, tensor<16x32xf32>) -> tensor<12x16xf32>
    %k = dtc.reshape %0 : (tensor<12x16xf32>) -> tensor<2x6x2x8xf32>
    // becomes
    %i = dtc.constant {dtc.split_dims = {tp = 0}} dense<[0, .., 7, 0, .., 7, 8, .., 15, 8, .., 15]> : tensor<32xi64>
    %w = dtc.gather %wk, %i : (tensor<16x32xf32>, tensor<32xi64>) -> tensor<32x32xf32>
    %0 = dtc.matmul %x, %w {transpose_rhs} : (tensor<12x32xf32>, tensor<32x32xf32>) -> tensor<12x32xf32>
    %k = dtc.reshape %0 : (tensor<12x32xf32>) -> tensor<2x6x4x8xf32>
    ```
  }];
  let options = [
    Option<"tp", "tp", "int64_t", "1", "Tensor parallel size; 1 changes nothing">,
  ];
}

def ChooseCuts : Pass<"dtc-choose-cuts", "mlir::ModuleOp"> {
  let summary = "Assign the ops of the forward graph to pipeline stages";
  let description = [{
    Cuts `@forward`, in the order of its ops, into one contiguous chunk for each
    stage, and writes `dtc.stage` on the ops. The largest chunk costs at most 4
    % more than the optimum. Among such cuts, the pass takes those with the
    fewest bytes between stages, and among these the one with the smallest sum
    of squared costs. Costs are floating-point operations unless `cut` selects
    others. Parts of one tensor of the model stay on one stage.

    Ops that depend on inputs and constants alone (masks, position ids) get no
    stage: they are recomputed where they are used. Ops that depend on
    parameters alone (a transposed weight) belong to the first stage that uses
    them.

    Before:
    ```mlir
    %0 = dtc.matmul %x, %w0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = dtc.matmul %0, %w1 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    ```
    After, with `stages=2`:
    ```mlir
    %0 = dtc.matmul %x, %w0 {dtc.stage = 0 : i64} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = dtc.matmul %0, %w1 {dtc.stage = 1 : i64} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "Number of pipeline stages">,
    ListOption<"cut", "cut", "std::string",
               "Where to cut: `cost` (default) balances operations, `parameters` "
               "bytes of parameters, `uniform` numbers of ops; or the names of "
               "the nodes that begin stages 1, 2, ...">,
  ];
}

def InsertBoundaries : Pass<"dtc-insert-boundaries", "mlir::ModuleOp"> {
  let summary = "Insert a dtc.boundary at every crossing of stages";
  let description = [{
    Consumes the `dtc.stage` of ops. A value that later stages use is relayed
    from stage to stage up to its last user. If several stages use a parameter
    (a tied embedding), the first of them owns it and sends it directly to each
    of the others.

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
  let summary = "Append labels and the loss to @forward, which becomes @step";
  let description = [{
    The loss is a sum over the global batch in double precision, divided by a
    count: a constant, the number of labels that are not ignored, or the sum of
    their classes' weights. The loss and the predictions, classes last, become
    results. Unless the model computes the loss itself, its unchanged output
    becomes a result, too (`recorded`). Ops that only other outputs need are
    removed. Smoothed and weighted cross-entropy and `bce` are built from tensor
    ops.

    An input that indexes a table, or holds class labels, gets `dtc.bound`: one
    number for all elements of a sample, or one for each. Labels with an ignored
    value get `dtc.ignore_index`.

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
           "Output for the loss, if the model has several">,
    Option<"ignoreIndex", "ignore-index", "std::string", "",
           "Integer; labels with this value do not count">,
    Option<"classAxis", "class-axis", "int64_t", "TrainingOptions().classAxis",
           "Dimension of the classes, negative from the end">,
    Option<"reduction", "reduction", "std::string", "TrainingOptions().reduction",
           "Mean or sum over the global batch">,
    Option<"labelSmoothing", "label-smoothing", "double", "TrainingOptions().labelSmoothing",
           "Share of each label that is spread over all classes">,
    ListOption<"classWeights", "class-weights", "double", "A weight for each class">,
    Option<"replicas", "replicas", "int64_t", "0",
           "Number of replicas in the batch if it is known only at launch, else 0">,
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def ExpandTrainingOps : Pass<"dtc-expand-training-ops", "mlir::ModuleOp"> {
  let summary = "Expand batch norm and dropout for training and evaluation";
  let description = [{
    Batch norm and dropout differ in an evaluation (EvaluationInterface). The
    pass clones all ops between the first such op and the predictions, and the
    predictions become those of an evaluation. CSE merges clones that do not
    differ.

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
    Random ops with the same seed differ by their ids. Each gets a key instead:
    the seed plus a multiple of a large odd number. Their ids become 0, so that
    equal layers become equal kernels.

    A `batch_norm` becomes sums over the batch and elementwise ops, and `@step`
    returns the new running statistics once a step: the old ones times momentum,
    plus the mean over groups of the mean and unbiased variance. A group is a
    part of the batch with its own statistics: the whole batch (`global`, only
    with one micro-batch), a micro-batch (`micro`), or a rank's part of one
    (`local`, as in PyTorch's DDP). Groups become a dimension of the values,
    which micro-batches and ranks split. With `frozen`, and in all ops that are
    `running`, the running statistics normalise and do not change.

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
           "Group of samples with its own statistics: global, micro, local or frozen">,
    Option<"microbatches", "microbatches", "int64_t", /*default=*/"1",
           "Micro-batches in a step">,
    Option<"dp", "dp", "int64_t", /*default=*/"1", "Data parallel ranks">,
    Option<"replicas", "replicas", "int64_t", "0",
           "Number of replicas in the batch if it is known only at launch, else 0">,
  ];
}

def MarkMixedSamples : Pass<"dtc-mark-mixed-samples", "::mlir::ModuleOp"> {
  let summary = "Mark models whose predictions depend on pairs of samples";
  let description = [{
    An evaluation fills the last batch of a data set by repeating its samples
    equally often. This does not change predictions of single samples, or
    predictions that depend on means over the batch. A model that compares each
    sample with all others, such as one with a contrastive loss, gets
    `dtc.mixes_samples`: its evaluations skip the last batch.

    The ops' sharding rules decide. The model is marked if an op that reads a
    value sample by sample needs the samples gathered.

    ```mlir
    %t = dtc.transpose %z [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %s = dtc.matmul %z, %t : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    return %loss, %s : ..., tensor<8x8xf32>     // {dtc.output = "predictions"}
    // becomes                                     {dtc.mixes_samples, dtc.output = "predictions"}
    ```
  }];
}

def BalanceExperts : Pass<"dtc-balance-experts", "::mlir::ModuleOp"> {
  let summary = "Update the biases of routers";
  let description = [{
    For auxiliary-loss-free balance of mixtures of experts (Wang et al., arXiv
    2408.15664). A router adds biases to the scores by which it chooses experts.
    The pass finds the biases behind the indices of each product, by their names.
    They have no gradient. @step returns their new value, as for a running
    statistic: `update` is added where fewer rows than the mean chose an expert,
    and subtracted where more did. Counts are those of the step's whole batch.

    ```mlir
    %y = dtc.grouped_matmul %x, %w, %e : (tensor<64x32xf32>, tensor<8x32x96xf32>, tensor<64xi64>) -> tensor<64x96xf32>
    return %loss : tensor<f64>
    // becomes
    %h = dtc.one_hot %e : (tensor<64xi64>) -> tensor<64x8xi1>
    %n = dtc.reduce_sum (dtc.cast %h) axes [0] : (tensor<64x8xf32>) -> tensor<1x8xf32>
    %b1 = dtc.add %b, ...                                 // update * sign(mean of %n - %n)
    return %loss, %b1 : tensor<f64>, tensor<8xf32>        // {dtc.parameter = "b"}
    ```
  }];
  let options = [
    Option<"update", "update", "double", "0", "Size of a change; 0 for none">,
    Option<"biases", "biases", "std::string", "\"*\"", "Glob of the biases' names">,
  ];
}

def ExchangeExperts : Pass<"dtc-exchange-experts", "::mlir::ModuleOp"> {
  let summary = "Move rows to the ranks of their experts";
  let description = [{
    For expert parallelism. Products by chosen matrices become products in slots
    [experts, groups, capacity, width], which `dtc.dispatch` fills from rows and
    `dtc.combine` empties. Ops between two products move into the slots, if they
    treat each row alone; so do ops after them that read nothing else with rows.
    Biases of experts are broadcast in the slots. The first dimension of experts'
    parameters, or of those that a reshape makes the stack of, gets the split
    `ep`.

    A group is one of the parts of the batch that ranks compute at a time. The
    capacity of an expert for a group is that of all of its rows, or of one row
    for each token if indices are those of a TopK; or, if given, `capacity` times
    the mean.

    ```mlir
    %y = dtc.grouped_matmul %x, %w, %e : (tensor<64x32xf32>, tensor<8x32x96xf32>, tensor<64xi64>) -> tensor<64x96xf32>
    // becomes
    %n = dtc.count_rows %e {axis = "ep", capacity = 16 : i64} : (tensor<64xi64>) -> tensor<8x4xi32>
    %0 = dtc.dispatch %x, %e {axis = "ep"} : (tensor<64x32xf32>, tensor<64xi64>) -> tensor<8x4x16x32xf32>
    %1 = dtc.expert_matmul %0, %w, %n {group_rows = 16 : i64} : (tensor<8x4x16x32xf32>, tensor<8x32x96xf32>, tensor<8x4xi32>) -> tensor<8x4x16x96xf32>
    %y = dtc.combine %1, %e {axis = "ep"} : (tensor<8x4x16x96xf32>, tensor<64xi64>) -> tensor<64x96xf32>
    ```
  }];
  let options = [
    Option<"ep", "ep", "int64_t", "1", "Ranks that share the experts">,
    Option<"groups", "groups", "int64_t", "1",
           "Parts of the batch: ranks that share it x micro-batches">,
    Option<"capacity", "capacity", "double", "0",
           "Slots of an expert, relative to its mean of rows; 0 for all rows">,
  ];
}

def ChooseSplits : Pass<"dtc-choose-splits", "::mlir::ModuleOp"> {
  let summary = "Choose the dimensions that tensor parallelism splits";
  let description = [{
    Runs on the forward graph with its loss, where every parameter has the
    dimensions of the model. The ops' sharding rules tie dimensions together
    into classes: the heads of an attention through projections, scores and
    output; the inner width of an MLP.

    A class is split if no op needs it whole and some op sums over it, so that
    the split ends in one reduction. This yields the column and row splits of
    Megatron-LM (arXiv 1909.08053). If classes meet in an op, the one with fewer
    sums is split. A size that tp does not divide is an error, except for a
    vocabulary: `PadVocabulary` pads it, or it stays whole with a warning that
    states the reason.

    `layout` takes precedence: `GLOB=tp:split(DIM)` splits the class of a
    dimension of the parameters that match, and `GLOB=replicated` keeps their
    classes whole. Writes `dtc.split_dims` on parameters, and with `sp` on the
    ops where the values between split parts begin (arXiv 2205.05198).

    ```mlir
    %w1: tensor<512x128xf32> {dtc.parameter = "fc1.weight"},
    %w2: tensor<128x512xf32> {dtc.parameter = "fc2.weight"}
    // becomes
    %w1: tensor<512x128xf32> {dtc.parameter = "fc1.weight", dtc.split_dims = {tp = 0}},
    %w2: tensor<128x512xf32> {dtc.parameter = "fc2.weight", dtc.split_dims = {tp = 1}}
    ```
  }];
  let options = [
    Option<"tp", "tp", "int64_t", "1", "Tensor parallel size">,
    Option<"sp", "sp", "bool", "false", "Split values between the split products along the sequence">,
    ListOption<"layout", "layout", "std::string", "GLOB=tp:split(DIM) or GLOB=replicated for parameters">,
  ];
}

def PadVocabulary : Pass<"dtc-pad-vocabulary", "::mlir::ModuleOp"> {
  let summary = "Pad vocabularies to a multiple of tp";
  let description = [{
    If `ChooseSplits` splits a vocabulary that tp does not divide, its dimension
    is padded to the next multiple of tp in all parameters and values. The
    number of logit columns on each rank is also padded to a multiple of the
    largest power of two, up to `multiple`, that adds no more than a sixteenth
    (`Target::getColumnMultiple`).

    Lookups never read the added rows. The loss excludes the added columns of
    logits from its maximum and sum. Their gradient is zero, so the padding of
    parameters stays zero. Logits that are a result themselves are minus
    infinity in padding. `dtc.part` has the shape of the model's tensor, which
    files hold.

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
    Option<"tp", "tp", "int64_t", "1", "Tensor parallel size">,
    Option<"multiple", "multiple", "int64_t", "1", "Preferred divisor of the number of logit columns on a rank, a power of two">,
  ];
}

#endif // DTC_STRATEGY_PASSES_TD
