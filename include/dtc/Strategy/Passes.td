//===- Passes.td - passes of the strategy phase ------------*- tablegen -*-===//

#ifndef DTC_STRATEGY_PASSES_TD
#define DTC_STRATEGY_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoveBatch : Pass<"dtc-move-batch", "::mlir::ModuleOp"> {
  let summary = "results have the batch first";
  let description = [{
    A result of `@forward` whose batch is another dimension, such as [tokens,
    batch, vocabulary], is transposed: data, labels among them, are samples. The
    batch of inputs is their first dimension; where it is in results follows
    from layouts. Where it is nowhere, or in two dimensions, since the model mixes
    samples, the result stays.

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

def MarkParameters : Pass<"dtc-mark-parameters", "mlir::ModuleOp"> {
  let summary = "note what the user says of parameters by name";
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
    ListOption<"paddingIdx", "padding-idx", "std::string", "GLOB=N: row N of lookup tables of such names">,
    ListOption<"noDecay", "no-decay", "std::string",
               "globs of names of parameters without weight decay, or norms-and-biases">,
    ListOption<"lrScale", "lr-scale", "std::string",
               "GLOB=X: the learning rate of parameters of such names is multiplied by X">,
  ];
}

def FormAttention : Pass<"dtc-form-attention", "::mlir::ModuleOp"> {
  let summary = "makes attention one op";
  let description = [{
    A product of a softmax of a product is attention, whichever way an exporter
    writes it: the scores scaled, or queries and keys each; a mask added, or
    scores replaced by a number that absorbs them; keys and values repeated for
    the heads of a group. A mask that hides later keys, and follows from
    constants, is `causal`.
    Transposes that bring queries, keys and values into the op's order meet those
    that the model has, and both go.

    Not formed where the scores or their softmax are used elsewhere, where a
    dropout lies between, and where the mask has a gradient. It is `divided`
    where the target's runtime does not compute it, which options say.

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
           "the runtime computes heads of at most so many elements">,
    Option<"widthMultiple", "width-multiple", "int64_t", "1",
           "and of a multiple of so many elements">,
  ];
}

def BoundMasks : Pass<"dtc-bound-masks", "::mlir::ModuleOp"> {
  let summary = "masks of attention are finite";
  let description = [{
    For targets whose library needs it (`Target::getAttentionLimits`): a mask's
    numbers below -60000, such as -inf, become -60000, which hides a key as well.
    A query all of whose keys are hidden so, which would see all of them alike,
    has result 0, as with -inf: its lse tells. Where a constant mask leaves each
    query a key, nothing tests that.

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
  let summary = "softmaxes of rows of -inf have a gradient";
  let description = [{
    Exporters write attention in which a query may see no key as a softmax whose
    NaN become zeros. The pass replaces rows of -inf before the softmax: else
    their gradient is NaN.

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
  let summary = "takes fused projections apart";
  let description = [{
    Where a `dtc.split` cuts the last dimension of a product with a parameter,
    biases and reshapes between included, each part gets a product and parameters of its own, so that tensor
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

def RepeatKeyHeads : Pass<"dtc-repeat-key-heads", "::mlir::ModuleOp"> {
  let summary = "repeats the heads of keys and values that tp does not divide";
  let description = [{
    Attention has `groups` heads of keys and values. Where tp does not divide
    them, but divides so many copies of them as each has heads of queries, each
    is repeated: ranks with queries of one group hold the same keys, as in
    Megatron-LM and vLLM. Products, norms and rotations compute each head by
    itself, and repeat what they are made of instead, up to the parameters. The
    parameters stay whole, and their gradients are added over tp once a step.

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
    Option<"tp", "tp", "int64_t", "1", "Ranks that share the heads; nothing happens with 1">,
  ];
}

def ChooseCuts : Pass<"dtc-choose-cuts", "mlir::ModuleOp"> {
  let summary = "number the pipeline stages of the forward graph";
  let description = [{
    Cuts `@forward`, in the order of its ops, into as many contiguous chunks as
    there are stages, and writes `dtc.stage` on the ops. The largest chunk costs
    at most 4 % more than it must; among such cuts the fewest bytes cross, and
    among these the sum of squared costs is smallest. Costs are floating-point
    operations, or what `cut` says. Parts of one tensor of the model stay on one
    stage.

    What depends on inputs and constants alone (masks, position ids) gets no
    stage: it is recomputed where it is used. What depends on parameters alone
    (a transposed weight) belongs to the first stage that uses it.

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
    Option<"stages", "stages", "int64_t", "1", "number of pipeline stages">,
    ListOption<"cut", "cut", "std::string",
               "how to cut: `cost` (default) balances operations, `parameters` "
               "bytes of parameters, `uniform` numbers of ops; or the names of "
               "the nodes that begin stages 1, 2, ...">,
  ];
}

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

def MarkMixedSamples : Pass<"dtc-mark-mixed-samples", "::mlir::ModuleOp"> {
  let summary = "mark models whose predictions depend on pairs of samples";
  let description = [{
    An evaluation fills the last batch of a data set by repeating its samples
    equally often. Predictions of single samples stay as they are, and so do
    those that depend on means over the batch. A model that compares each sample
    with each other one, such as one with a contrastive loss, gets
    `dtc.mixes_samples`: its evaluations leave the last batch out.

    The ops' sharding rules decide. A value whose samples must be gathered is one
    that an op reads sample by sample.

    ```mlir
    %t = dtc.transpose %z [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %s = dtc.matmul %z, %t : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    return %loss, %s : ..., tensor<8x8xf32>     // {dtc.output = "predictions"}
    // becomes                                     {dtc.mixes_samples, dtc.output = "predictions"}
    ```
  }];
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
    The columns of logits become, on each rank, one of the largest power of two
    up to `multiple` that adds no more than a sixteenth, too
    (`Target::getColumnMultiple`).
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
    Option<"tp", "tp", "int64_t", "1", "Ranks that share each split product">,
    Option<"multiple", "multiple", "int64_t", "1", "What the columns of logits should be a multiple of, a power of two">,
  ];
}

#endif // DTC_STRATEGY_PASSES_TD
