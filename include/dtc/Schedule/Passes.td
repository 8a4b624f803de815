//===- Passes.td - passes of the schedule phase ------------*- tablegen -*-===//

#ifndef DTC_SCHEDULE_PASSES_TD
#define DTC_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackAttention : Pass<"dtc-pack-attention", "mlir::ModuleOp"> {
  let summary = "attention takes queries, keys and values in one tensor";
  let description = [{
    In `@step`, an attention whose operands are the three parts of one tensor,
    and nothing else's, becomes a `dtc.packed_attention` of that tensor. Its
    gradient makes one, where the three would be joined. One whose gradient is
    divided later (`DivideAttentionGradient`) stays.

    Before:
    ```mlir
    %p:3 = dtc.split %x axis 2 : (tensor<2x16x192xbf16>) -> ...
    %q = dtc.reshape %p#0 : ... -> tensor<2x16x4x16xbf16>
    ...
    %o, %lse = dtc.attention %q, %k, %v ...
    %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %o, %lse, %do ...
    %0 = dtc.reshape %dq : ...
    ...
    %dx = dtc.concat %0, %1, %2 axis 2 : ...
    ```
    After:
    ```mlir
    %y = dtc.reshape %x : ... -> tensor<2x16x3x4x16xbf16>
    %o, %lse = dtc.packed_attention %y ...
    %dy = dtc.packed_attention_grad %y, %o, %lse, %do ...
    %dx = dtc.reshape %dy : ...
    ```
  }];
  let options = [
    Option<"maxScores", "max-scores", "int64_t", "std::numeric_limits<int64_t>::max()",
           "bytes of scores of a group of heads that a gradient may keep">,
  ];
}

def FormEpilogues : Pass<"dtc-form-epilogues", "mlir::ModuleOp"> {
  let summary = "products compute what follows them element by element";
  let description = [{
    In `@step`, a matrix product of 16-bit numbers and the ops that follow it
    become one `dtc.matmul_epilogue`: a bias that no kernel would add, a bias
    with ReLU or GELU, the gradient of that GELU, and a matrix that is added and
    lies in memory anyway, such as a residual. GELU is recognised by its values,
    whatever ops compute it.

    Before:
    ```mlir
    %p = dtc.matmul %a, %w : ...
    %x = dtc.add %p, %b : ...
    %c = dtc.mul %x, %x : ...
    ...
    %y = dtc.mul %h, %t : ...
    ```
    After:
    ```mlir
    %y, %x = dtc.matmul_epilogue gelu %a, %w, %b : ...
    ```
  }];
}

def FormBiasGradients : Pass<"dtc-form-bias-gradients", "mlir::ModuleOp"> {
  let summary = "products sum what they read";
  let description = [{
    In `@step`, the gradient of a weight and the sum of rows that is the gradient
    of the bias beside it become one `dtc.matmul_bias_grad`, where a product has
    made the rows and no kernel reads them besides.

    Before:
    ```mlir
    %dw = dtc.matmul %x, %dy {transpose_lhs} : ... -> tensor<8x16xf32>
    %db = dtc.reduce_sum %dy axes [0] : ... -> tensor<1x16xf32>
    ```
    After:
    ```mlir
    %dw, %0 = dtc.matmul_bias_grad %x, %dy {transpose_lhs} : ...
    %db = dtc.reshape %0 : ...
    ```
  }];
}

def SplitStages : Pass<"dtc-split-stages", "mlir::ModuleOp"> {
  let summary = "cut the step into one module per pipeline stage";
  let description = [{
    Cuts `@step` into modules `@stage0`, `@stage1`, ... with the functions
    `@prologue`, `@forward`, `@backward`, `@weight`, `@update`, as far as a
    stage needs them (and `@inputs`, `@reduce` for sums of inputs and for values
    that depend on messages once a step), and declares `@plan`. The mb axis
    leaves the types of the functions; what is partial on it is accumulated
    where it is made. What only the result `eval` needs is no part of `@step`: a
    clone that keeps that result alone is cut into modules `@eval0`, `@eval1`,
    ... that have `dtc.eval`. With `join-weights`, `@backward` has what `@weight`
    would.

    Before:
    ```mlir
    func.func @step(%x: tensor<8x4xf32, #mb_dp> {dtc.input = "x"}, %w: tensor<4x4xf32> {dtc.parameter = "w"}, ...) {
      %dw = dtc.matmul %x, %dy {transpose_lhs} : (...) -> tensor<4x4xf32, #mb_dp_partial>
      %a = dtc.sum_microbatches %dw : ...
      %g = dtc.all_reduce sum %a over ["dp"] : ...
      %w1 = dtc.sgd %w, %g, %lr {...}
      ...
    ```
    After:
    ```mlir
    module @stage0 attributes {dtc.stage = 0 : i64} {
      func.func private @weight(%x: tensor<2x4xf32, #dp> {dtc.value = 0}, %dy: ... {dtc.value = 9}, %acc: tensor<4x4xf32, #dp_partial> {dtc.update = 0, dtc.value = 10}) -> (... {dtc.value = 10}) {
        %dw = dtc.matmul %x, %dy {transpose_lhs} : ...
        %r = dtc.accumulate %dw into %acc : ...
        return %r
      }
      func.func private @update(...)
      func.func private @plan(tensor<8x4xf32, #mb_dp> {dtc.input = "x", dtc.value = 0}, ...) -> (...)
    }
    ```
  }];
  let options = [
    Option<"joinWeights", "join-weights", "bool", "false",
           "Compute all gradients of a micro-batch in one function">,
  ];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def Recompute : Pass<"dtc-recompute", "mlir::ModuleOp"> {
  let summary = "make activations again in the backward pass";
  let description = [{
    Clones ops of `@forward` into `@backward` and `@weight`, each right before
    its first use there, so that `@forward` need not return their results, which
    would wait for the backward pass. What `@backward` has made it returns to
    `@weight`: nothing is made three times. Gradients are the same to the bit.

    An activation depends on parameters and on inputs. A cut is an activation
    that, where it is made, is the only one that later ops read. The first cut
    after a matrix product ends a unit, if products follow: in a transformer,
    an attention or an MLP with its addition to the residual stream.

    * `all`: keeps the cuts between units;
    * `except-last`: and all that is saved of the last unit of each stage;
    * `every:N`: keeps every N-th of these cuts;
    * `selective`: makes again what follows without a product (matrix product
      or convolution) or communication from what is saved of its unit, or from
      one value that is smaller than what is saved of it; a parameter that
      `@backward` and `@weight` gather anyway is there;
    * a pattern: makes those units again that have a node of such a name.

    What enters or leaves a stage is kept in any case.

    Before:
    ```mlir
    func.func private @forward(%x {dtc.value = 0}, %w {dtc.value = 1})
        -> (... {dtc.value = 5}, ... {dtc.value = 6}) {
      %h = dtc.matmul %x, %w : ...
      %a = dtc.tanh %h : ...
      %p = dtc.mul %a, %a : ...
      return %a, %p
    }
    func.func private @weight(%x {dtc.value = 0}, %a {dtc.value = 5}, %p {dtc.value = 6}, ...)
    ```
    After `--dtc-recompute=policy=selective`:
    ```mlir
    func.func private @forward(%x {dtc.value = 0}, %w {dtc.value = 1})
        -> (... {dtc.value = 5})
    func.func private @weight(%x {dtc.value = 0}, %a {dtc.value = 5}, ...) {
      %p = dtc.mul %a, %a : ...
      ...
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
  let options = [
    Option<"policy", "policy", "std::string", "ScheduleOptions().recompute",
           "none, all, except-last, every:N, selective or a pattern of node names">,
  ];
}

def DivideAttention : Pass<"dtc-divide-attention", "mlir::ModuleOp"> {
  let summary = "attention without a library is products of blocks";
  let description = [{
    In the functions of stages, a `divided` attention becomes two products with
    a softmax between, for as many samples, or as many heads of one sample, or
    as many queries of one group of heads, at a time as have scores of at most
    `max-block` bytes, in at most 16 blocks of queries. A causal attention of many
    queries has four, whose keys end with the last query. Its gradient makes the
    scores of a block again, and adds what blocks of queries give keys and values.

    Before:
    ```mlir
    %o, %lse = dtc.attention %q, %k, %v {causal, divided, scale = 3.5e-1 : f64} : (tensor<2x16x4x8xf32, #dp>, ...
    ```
    After, with four heads at a time:
    ```mlir
    %0 = dtc.transpose %q [0, 2, 1, 3] : (tensor<2x16x4x8xf32, #dp>) -> tensor<2x4x16x8xf32, #dp>
    // %1 of %k and %2 of %v alike
    %3 = dtc.reshape %0 : ... -> tensor<1x2x1x1x1x4x16x8xf32, #dp>
    %4 = dtc.slice %3 axis 1 from 0 {view} : ... -> tensor<1x1x1x1x1x4x16x8xf32, #dp>
    %5 = dtc.reshape %4 : ... -> tensor<1x4x16x8xf32, #dp>
    // %6 of %1 and %7 of %2 alike
    %s = dtc.matmul %5, %6 {transpose_rhs} : ... -> tensor<1x4x16x16xf32, #dp>
    // %p and %l of %s, in one kernel
    %8 = dtc.matmul %p, %7 : ... -> tensor<1x4x16x8xf32, #dp>
    // %9 and %m of the other sample
    %10 = dtc.concat %8, %9 axis 1 : ...
    %o = dtc.transpose %11 [0, 2, 1, 3] : ...
    %lse = dtc.concat %l, %m axis 1 : ...
    ```
  }];
  let options = [
    Option<"maxBlock", "max-block", "int64_t", "64 << 20",
           "bytes of one block of scores">,
    Option<"minQueries", "min-queries", "int64_t", "512",
           "queries of a block, unless there are fewer">,
  ];
}

def DivideAttentionGradient : Pass<"dtc-divide-attention-gradient", "mlir::ModuleOp"> {
  let summary = "long attention's gradient is that of blocks";
  let description = [{
    A library keeps 16 bits for each score of a group of heads in the gradient.
    In the functions of stages, a gradient that would keep more than
    `max-scores` bytes becomes gradients of blocks: a range of queries with a
    range of keys. A block reads lse and result of its queries,
    which depend on all keys, so that blocks need nothing of each other. Each
    gives 16 bits; they are added in f32, in order. A causal attention has no
    blocks of later keys, and only those on the diagonal are causal.

    Before, with 16 queries and keys where 8 fit:
    ```mlir
    %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %o, %lse, %do {causal, scale = 3.5e-1 : f64} : (tensor<2x16x4x8xbf16, #dp>, ...
    ```
    After:
    ```mlir
    %q0 = dtc.slice %q axis 1 from 0 : ... -> tensor<2x8x4x8xbf16, #dp>
    // %k0, %v0, %o0, %do0 alike, and %lse0 along axis 2
    %0:3 = dtc.attention_grad %q0, %k0, %v0, %o0, %lse0, %do0 {causal, scale = 3.5e-1 : f64} : ...
    %1:3 = dtc.attention_grad %q1, %k0, %v0, %o1, %lse1, %do1 {scale = 3.5e-1 : f64} : ...
    %2:3 = dtc.attention_grad %q1, %k1, %v1, %o1, %lse1, %do1 {causal, scale = 3.5e-1 : f64} : ...
    // the queries' gradients: %0#0 in f32, and the sum of %1#0 and %2#0
    %3 = dtc.concat ... axis 1 : ... -> tensor<2x16x4x8xf32, #dp>
    %dq = dtc.cast %3 : ... -> tensor<2x16x4x8xbf16, #dp>
    ```
  }];
  let options = [
    Option<"maxScores", "max-scores", "int64_t", "std::numeric_limits<int64_t>::max()",
           "bytes of scores of one sample's group of heads that a gradient may keep">,
  ];
}

def ScheduleMicrobatches : Pass<"dtc-schedule-microbatches", "mlir::ModuleOp"> {
  let summary = "write the plan of each stage in the order of a schedule";
  let description = [{
    Gives `@plan` a body: zeroed accumulators, receives, one `dtc.run` for each
    entry of the pipeline schedule (`dtc.schedule`), sends with their waits, the
    update. With several rounds, the schedule is that of a round and runs so
    many times: `dtc.rounds`. The plan of an evaluation has the forward entries alone.

    Before: `func.func private @plan(...) -> (...)`

    After:
    ```mlir
    func.func @plan(%x: tensor<8x4xf32, #mb_dp> {dtc.input = "x"}, ...) -> (...) {
      %z = dtc.zero : tensor<4x4xf32, #dp_partial>
      %x0 = dtc.microbatch %x[0] : ...
      %y0 = dtc.run @forward(%x0, %w) microbatch 0 : ...
      %s0 = dtc.send %y0 to 1 tag 0 : ...
      ...
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
  let options = [
    Option<"schedule", "schedule", "std::string", "ScheduleOptions().schedule",
           "pipeline schedule, as --schedule of dtc">,
    Option<"rounds", "rounds", "int64_t", "ScheduleOptions().accumulate",
           "how many times it runs, each on its part of the micro-batches">,
  ];
}

def PrepareUpdate : Pass<"dtc-prepare-update", "mlir::ModuleOp"> {
  let summary = "give the update reduced gradients, and parameters as they are gathered";
  let description = [{
    Three steps on what `@update` takes, now that plans have their order.

    The update takes a parameter that `@prologue` has gathered as a whole, and
    cuts the rank's shard out of it. So nobody reads the shard after the gather
    until its new value takes its place (`PlanMemory`). With `offload=parameters`
    the update overwrites the shard, which takes no memory of the device.

    ```mlir
    // @update: %q = dtc.sgd %p, %g, %lr {...} : ...
    %a = dtc.run @prologue(%p) : ... // %a = dtc.all_gather %p over ["dp"] dim 1
    ...
    %q = dtc.run @update(%p, %g, %lr) : ...
    // becomes
    // @update: %q = dtc.sgd (dtc.local_slice %a over ["dp"] dim 1), %g, %lr {...} : ...
    %a = dtc.run @prologue(%p) : ...
    ...
    %q = dtc.run @update(%a, %g, %lr) : ...
    ```

    The last run of `@weight` becomes one of a clone, `@weight.last`, which
    reduces what the update reduced of its results, right after the last
    micro-batch has been added, in the order in which gradients are complete.
    What is computed of them for the reduction alone (a bucket of ZeRO) moves
    along. Reductions over stages stay, and so do those of what crosses stages.

    ```mlir
    %w:2 = dtc.run @weight(%x, %a, %b) microbatch 3 : ...
    %u = dtc.run @update(%p, %w#0, %w#1) : ...  // %g:2 = dtc.all_reduce ...
    // becomes
    %w:2 = dtc.run @weight.last(%x, %a, %b) microbatch 3 : ... // and here
    %u = dtc.run @update(%p, %w#0, %w#1) : ...
    ```

    All-reduces with the same axes, reduction and element type become one variadic
    all-reduce, in order, up to `bucket-mb`; the first of a last run up to 1 MiB,
    so that communication begins early.

    ```mlir
    %g0 = dtc.all_reduce sum %a over ["dp"] : ...
    %g1 = dtc.all_reduce sum %b over ["dp"] : ...
    // becomes
    %g:2 = dtc.all_reduce sum %a, %b over ["dp"] : ...
    ```
  }];
  let options = [
    Option<"bucketMb", "bucket-mb", "int64_t", "ScheduleOptions().bucketMb",
           "size up to which a bucket is filled, in MiB">,
    Option<"offload", "offload", "std::string", "ScheduleOptions().offload",
           "what lies in the host's memory: none, state, parameters">,
  ];
}

def OverlapCommunication : Pass<"dtc-overlap-communication", "mlir::ModuleOp"> {
  let summary = "compute while ranks exchange";
  let description = [{
    Decides what communication starts early, and where it is awaited. After
    kernels are formed: from here on ops keep their order. In this order:

    What `@prologue` gathers and only returns starts there, at its end, in the
    order in which it is needed, as long as the runtime has slots for it. If a forward pass needs it first, that run becomes one of a
    clone, `@forward.first`, which waits where it is read; else the plan waits.

    ```mlir
    // @prologue: %a = dtc.all_gather %p over ["dp"] dim 1 : ...
    %g:2 = dtc.run @prologue(%p, %q) : ...
    %h = dtc.run @forward(%x0, %g#0, %g#1) microbatch 0 : ...
    %i = dtc.run @forward(%x1, %g#0, %g#1) microbatch 1 : ...
    // becomes
    // @prologue: %a = dtc.all_gather %p over ["dp"] dim 1 {dtc.async} : ...
    %g:2 = dtc.run @prologue(%p, %q) : ...
    %h = dtc.run @forward.first(%x0, %g#0, %g#1) microbatch 0 : ... // dtc.wait %a
    %i = dtc.run @forward(%x1, %g#0, %g#1) microbatch 1 : ...
    ```

    What a last run reduces and only returns starts there; before the first op of
    the plan that needs it there is a `dtc.wait`.

    ```mlir
    // @weight.last: %g = dtc.all_reduce sum %a over ["dp"] : ...
    %w:2 = dtc.run @weight.last(%x, %a, %b) microbatch 3 : ...
    %u = dtc.run @update(%p, %w#0, %w#1) : ...
    // becomes
    // @weight.last: %g = dtc.all_reduce sum %a over ["dp"] {dtc.async} : ...
    %w:2 = dtc.run @weight.last(%x, %a, %b) microbatch 3 : ...
    dtc.wait %w#0 : ...
    %u = dtc.run @update(%p, %w#0, %w#1) : ...
    ```

    Other collectives within a function of the step: their readers move down as
    long as nobody needs what they write, and one is in flight at a time. Each
    gather of a parameter after the first starts right before the first use of
    the gather before it, and a `dtc.wait` right before its own first use ends
    it: one is in flight, and two are in memory.

    ```mlir
    %a = dtc.all_gather %p over ["dp"] dim 1 : ...
    %h = dtc.matmul %x, %a : ...
    %b = dtc.all_gather %q over ["dp"] dim 1 : ...
    %y = dtc.matmul %h, %b : ...
    // becomes
    %a = dtc.all_gather %p over ["dp"] dim 1 : ...
    %b = dtc.all_gather %q over ["dp"] dim 1 {dtc.async} : ...
    %h = dtc.matmul %x, %a : ...
    dtc.wait %b : ...
    %y = dtc.matmul %h, %b : ...
    ```
    Invariant: what is in flight when a function ends lies in its caller's memory.
  }];
}

def FormKernels : Pass<"dtc-form-kernels", "mlir::ModuleOp"> {
  let summary = "group the tensor ops of stage functions into kernels";
  let description = [{
    In modules with `dtc.stage`, ops with a KernelOpInterface whose loops have
    the same rows and that share values become functions in the module
    `@kernels`, on local shapes, without layouts. A kernel ends with reductions
    over rows; an op joins a kernel only if nothing outside has to run between
    them. Constants are cloned into the kernels that use them. Kernels with the
    same ops, types and attributes are one.

    A sum `dtc.accumulate` of a matrix product that nothing else needs stays:
    the product accumulates itself. So do poolings, which a library computes,
    unless `poolings` is set: then each is a kernel.

    A second result of `dtc.matmul_epilogue` that nothing reads is left out.
    Equal views of a value become one, which a kernel reads once. Slices and
    splits that would be kernels by themselves become views where what they are
    cut from is in one piece and stays as it is.

    With `join`, kernels that stand side by side and need nothing of each other
    are one.

    Before:
    ```mlir
    %0 = dtc.add %h, %b : (tensor<8x4xf32, #dp>, tensor<4xf32, #r>) -> tensor<8x4xf32, #dp>
    %1 = dtc.relu %0 : (tensor<8x4xf32, #dp>) -> tensor<8x4xf32, #dp>
    ```
    After:
    ```mlir
    %1 = dtc.launch @kernels::@kernel_add_relu(%h, %b) : (tensor<8x4xf32, #dp>, tensor<4xf32, #r>) -> tensor<8x4xf32, #dp>

    module @kernels {
      func.func @kernel_add_relu(%h: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> attributes {dtc.kernel} {
        %0 = dtc.add %h, %b : ...
    ```
  }];
  let options = [
    Option<"joins", "join", "bool", "false", "kernels side by side are one">,
    Option<"poolings", "poolings", "bool", "false",
           "make kernels of poolings: the target has no library for them">,
  ];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

#endif // DTC_SCHEDULE_PASSES_TD
