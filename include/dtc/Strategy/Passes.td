//===- Passes.td - passes of the strategy phase ------------*- tablegen -*-===//

#ifndef DTC_STRATEGY_PASSES_TD
#define DTC_STRATEGY_PASSES_TD

include "mlir/Pass/PassBase.td"

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
