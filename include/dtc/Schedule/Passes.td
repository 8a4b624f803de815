//===- Passes.td - passes of the schedule phase ------------*- tablegen -*-===//

#ifndef DTC_SCHEDULE_PASSES_TD
#define DTC_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackAttention : Pass<"dtc-pack-attention", "mlir::ModuleOp"> {
  let summary = "Fuse queries, keys and values of attention into one operand";
  let description = [{
    In `@step`, an attention whose operands are the three parts of one tensor
    becomes a `dtc.packed_attention` of that tensor, if nothing else reads the
    parts. Its gradient makes one tensor in place of the concatenation of three.
    An attention whose gradient is divided later (`DivideAttentionGradient`)
    does not change.

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
           "Bytes of scores of a group of heads that a gradient may keep">,
  ];
}

def FormEpilogues : Pass<"dtc-form-epilogues", "mlir::ModuleOp"> {
  let summary = "Fuse matrix products with the elementwise ops that follow";
  let description = [{
    In `@step`, a matrix product of 16-bit numbers and the ops that follow it
    become one `dtc.matmul_epilogue`. Supported are a bias that no kernel would
    add, a bias with ReLU or GELU, the gradient of that GELU, and the addition
    of a matrix that is in memory anyway, such as a residual. The pass
    recognises GELU by its values, whatever ops compute it.

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
  let summary = "Fuse gradients of biases with gradients of weights";
  let description = [{
    In `@step`, the gradient of a weight and the sum of rows for the gradient of
    its bias become one `dtc.matmul_bias_grad`, if a product makes the rows and
    no kernel also reads them.

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
  let summary = "Split the step into one module per pipeline stage";
  let description = [{
    Splits `@step` into modules `@stage0`, `@stage1`, ... and declares `@plan`
    in each. A module has those of the functions `@prologue`, `@forward`,
    `@backward`, `@weight`, `@update` that its stage needs, and `@inputs` and
    `@reduce` for sums of inputs and for values that depend on messages once a
    step. The mb axis leaves the types of the functions; a value that is partial
    on mb is accumulated by the function that makes it.

    Ops that only the result `eval` needs leave `@step`. A clone that keeps only
    that result is split into modules `@eval0`, `@eval1`, ... with `dtc.program =
    "eval"`. The same holds for the results of each `dtc.program`.
    With `join-weights`, `@backward` also has the ops of `@weight`.

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
  let summary = "Recompute activations in the backward pass";
  let description = [{
    Clones ops of `@forward` into `@backward` and `@weight`, each right before
    its first use there, so that `@forward` need not return their results and
    keep them until the backward pass. `@backward` returns recomputed values to
    `@weight`, so nothing is computed three times. Gradients are bitwise equal.

    An activation depends on parameters and on inputs. A cut is an activation
    that, at its definition, is the only one that later ops read. The first cut
    after a matrix product ends a unit, if products follow. In a transformer, a
    unit is an attention or an MLP with its addition to the residual stream.

    * `all`: keep only the cuts between units;
    * `except-last`: also keep all saved values of the last unit of each stage;
    * `every:N`: keep every N-th of these cuts;
    * `selective`: recompute values that follow from the saved values of their
      unit, or from one value that is smaller than those, without a product
      (matrix product or convolution) or communication; parameters that
      `@backward` and `@weight` gather anyway are available;
    * a pattern: recompute the units that have a node with a matching name.

    Values that enter or leave a stage are always kept.

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
  let summary = "Divide attention without a library into products of blocks";
  let description = [{
    In the functions of stages, a `divided` attention becomes two products with
    a softmax between, one block of scores at a time. A block covers as many
    samples, or heads of one sample, or queries of one group of heads, as fit in
    `max-block` bytes, with at most 16 blocks of queries. A causal attention
    with many queries has four blocks, whose keys end with their last query. The
    gradient recomputes the scores of a block, and adds up the gradients of keys
    and values over blocks of queries.

    Before:
    ```mlir
    %o, %lse = dtc.attention %q, %k, %v {causal, divided, scale = 3.5e-1 : f64} : (tensor<2x16x4x8xf32, #dp>, ...
    ```
    After, with four heads at a time:
    ```mlir
    %0 = dtc.transpose %q [0, 2, 1, 3] : (tensor<2x16x4x8xf32, #dp>) -> tensor<2x4x16x8xf32, #dp>
    // likewise %1 of %k and %2 of %v
    %3 = dtc.reshape %0 : ... -> tensor<1x2x1x1x1x4x16x8xf32, #dp>
    %4 = dtc.slice %3 axis 1 from 0 {view} : ... -> tensor<1x1x1x1x1x4x16x8xf32, #dp>
    %5 = dtc.reshape %4 : ... -> tensor<1x4x16x8xf32, #dp>
    // likewise %6 of %1 and %7 of %2
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
           "Bytes of one block of scores">,
    Option<"minQueries", "min-queries", "int64_t", "512",
           "Minimum number of queries of a block, unless there are fewer">,
  ];
}

def DivideAttentionGradient : Pass<"dtc-divide-attention-gradient", "mlir::ModuleOp"> {
  let summary = "Divide the gradient of long attention into blocks";
  let description = [{
    A library keeps 16 bits for each score of a group of heads in the gradient.
    In the functions of stages, a gradient that would keep more than
    `max-scores` bytes becomes gradients of blocks: a range of queries with a
    range of keys. A block reads the lse and the result of its queries, which
    depend on all keys, so blocks do not depend on each other. The 16-bit
    results of blocks are added in f32, in order. A causal attention has no
    blocks of later keys, and only blocks on the diagonal are causal.

    Before, with 16 queries and keys where 8 fit:
    ```mlir
    %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %o, %lse, %do {causal, scale = 3.5e-1 : f64} : (tensor<2x16x4x8xbf16, #dp>, ...
    ```
    After:
    ```mlir
    %q0 = dtc.slice %q axis 1 from 0 : ... -> tensor<2x8x4x8xbf16, #dp>
    // likewise %k0, %v0, %o0, %do0, and %lse0 along axis 2
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
           "Bytes of scores of one sample's group of heads that a gradient may keep">,
  ];
}

def ScheduleMicrobatches : Pass<"dtc-schedule-microbatches", "mlir::ModuleOp"> {
  let summary = "Write the plan of each stage in the order of a schedule";
  let description = [{
    Gives `@plan` a body: zeroed accumulators, receives, one `dtc.run` for each
    entry of the pipeline schedule (`dtc.schedule`), sends with their waits, and
    the update. With several rounds, the plan repeats the schedule of one round
    `dtc.rounds` times. The plan of an evaluation has only the forward entries.

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
           "Pipeline schedule, as --schedule of dtc">,
    Option<"rounds", "rounds", "int64_t", "ScheduleOptions().accumulate",
           "Number of rounds, each on its part of the micro-batches">,
  ];
}

def PrepareUpdate : Pass<"dtc-prepare-update", "mlir::ModuleOp"> {
  let summary = "Reduce gradients before the update and shard parameters in it";
  let description = [{
    Changes the operands of `@update` in three steps, after plans have their
    order.

    First, the update takes each parameter that `@prologue` has gathered, and
    slices the rank's shard out of it. So the shard has no reader between the
    gather and its new value, which reuses its memory (`PlanMemory`). With
    `offload=parameters` this step is omitted: the update overwrites the shard,
    which is in host memory.

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

    Second, the last run of `@weight` becomes a run of a clone, `@weight.last`.
    The clone takes the reductions of its results from the update and runs them
    right after the last micro-batch has been added, in the order in which
    gradients are complete. Ops that only the reduction needs (a bucket of ZeRO)
    move along. Reductions over stages, and of values that cross stages, do not
    move.

    ```mlir
    %w:2 = dtc.run @weight(%x, %a, %b) microbatch 3 : ...
    %u = dtc.run @update(%p, %w#0, %w#1) : ...  // %g:2 = dtc.all_reduce ...
    // becomes
    %w:2 = dtc.run @weight.last(%x, %a, %b) microbatch 3 : ... // and here
    %u = dtc.run @update(%p, %w#0, %w#1) : ...
    ```

    Third, all-reduces with the same axes, reduction and element type become one
    variadic all-reduce, in order, up to `bucket-mb`. The first bucket of a last
    run is at most 1 MiB, so that communication begins early.

    ```mlir
    %g0 = dtc.all_reduce sum %a over ["dp"] : ...
    %g1 = dtc.all_reduce sum %b over ["dp"] : ...
    // becomes
    %g:2 = dtc.all_reduce sum %a, %b over ["dp"] : ...
    ```
  }];
  let options = [
    Option<"bucketMb", "bucket-mb", "int64_t", "ScheduleOptions().bucketMb",
           "Maximum size of a bucket in MiB">,
    Option<"offload", "offload", "std::string", "ScheduleOptions().offload",
           "Data in host memory: none, state, parameters">,
  ];
}

def OverlapCommunication : Pass<"dtc-overlap-communication", "mlir::ModuleOp"> {
  let summary = "Overlap communication with computation";
  let description = [{
    Decides which transfers start early, and where their waits are. Runs after
    kernels are formed, because ops keep their order from here on. The steps
    are:

    A gather that `@prologue` only returns starts there, at the end, in the
    order of use, as long as the runtime has slots. If a forward pass is the
    first to read it, that run becomes a run of a clone, `@forward.first`, which
    waits before the reader. Otherwise the plan waits.

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

    A reduction that a last run only returns starts there. The plan waits for it
    before the first op that needs it.

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

    For all other collectives within a function of the step, readers move down
    past ops that do not need their results, with one collective in flight at a
    time. Each gather of a parameter after the first starts right before the
    first use of the previous gather, and a `dtc.wait` ends it right before its
    own first use. So one gather is in flight, and two parameters are in memory.

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
    Invariant: buffers in flight at the end of a function are in its caller's
    memory.
  }];
}

def FormKernels : Pass<"dtc-form-kernels", "mlir::ModuleOp"> {
  let summary = "Group the tensor ops of stage functions into kernels";
  let description = [{
    In modules with `dtc.stage`, ops with a KernelOpInterface that share values
    and whose loops have the same rows become functions in the module
    `@kernels`, on local shapes, without layouts. Reductions over rows end a
    kernel. An op joins a kernel only if no other op has to run between them.
    Constants are cloned into the kernels that use them. Kernels with the same
    ops, types and attributes are merged.

    A `dtc.accumulate` that is the only reader of a matrix product does not
    become a kernel: the product accumulates itself. Poolings stay ops, which a
    library computes, unless `poolings` is set: then each is a kernel.

    An unused second result of `dtc.matmul_epilogue` is removed. Equal views of
    a value become one, which a kernel reads once. A slice or split that would
    be a kernel by itself becomes a view if its parts are contiguous and its
    operand is not overwritten.

    With `join`, adjacent independent kernels become one.

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
    Option<"joins", "join", "bool", "false", "Merge adjacent independent kernels">,
    Option<"poolings", "poolings", "bool", "false",
           "Make kernels of poolings: the target has no library for them">,
  ];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

#endif // DTC_SCHEDULE_PASSES_TD
