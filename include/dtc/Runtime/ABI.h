//===- ABI.h - contract between generated code and libdtcrt ------*- C -*-===//
//
// The interface between an object file written by dtc and the runtime that it
// is linked with, OpABI.h aside. C, versioned, free of LLVM and MPI types.
//
// Generated code exports one object, `dtc_program_v1`, and calls the `dtcrt_*`
// functions below. All buffers live in one arena per rank; generated code
// computes addresses as arena + constant offset and never allocates.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_RUNTIME_ABI_H
#define DTC_RUNTIME_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Raised whenever a struct, a signature or a limit in this file changes.
#define DTC_ABI_VERSION 19

/// The most messages of a rank, both ways, that may be in flight at once.
#define DTC_MAX_MESSAGE_SLOTS 4096

/// The most collectives of a rank that may be in flight at once. Their slots
/// follow those of messages: DTC_MAX_MESSAGE_SLOTS, DTC_MAX_MESSAGE_SLOTS + 1,
/// ...
#define DTC_MAX_COLLECTIVE_SLOTS 512

/// Offsets of a plan from here on are in the rank's host memory, smaller ones
/// in its arena.
#define DTC_HOST_MEMORY ((int64_t)1 << 62)

/// Element types. The values are part of the ABI; dtc/Support/ElementType.h has
/// their properties. Programs compute in the first seven; files may have any.
enum dtc_dtype {
  DTC_F32 = 0,
  DTC_F64 = 1,
  DTC_I32 = 2,
  DTC_I64 = 3,
  DTC_BOOL = 4, ///< one byte, 0 or 1
  DTC_BF16 = 5, ///< the upper half of an f32
  DTC_F16 = 6,  ///< IEEE 754 binary16
  DTC_I8 = 7,
  DTC_I16 = 8,
  DTC_U8 = 9,
  DTC_U16 = 10,
  DTC_U32 = 11,
  DTC_U64 = 12,
};

/// Reductions of collectives.
enum dtc_reduction { DTC_SUM = 0, DTC_MAX = 1 };

/// The result of dtcrt_conv2d: y from x and weight, the gradient of x from
/// weight and that of y, or the gradient of weight from x and that of y.
enum dtc_conv_role {
  DTC_CONV_FORWARD = 0,
  DTC_CONV_INPUT_GRAD = 1,
  DTC_CONV_WEIGHT_GRAD = 2,
};

/// The result of dtcrt_pool2d: the maximum or the sum of each window, or the
/// gradient of x from that of y.
enum dtc_pool_role {
  DTC_POOL_MAX = 0,
  DTC_POOL_MAX_GRAD = 1,
  DTC_POOL_SUM = 2,
  DTC_POOL_SUM_GRAD = 3,
};

/// Parts of the mask of an attention, as a set; 0 if there is none.
enum dtc_attention_mask {
  DTC_MASK_GIVEN = 1,
  DTC_MASK_BATCH = 2,   ///< one for each sample, else for all
  DTC_MASK_HEADS = 4,   ///< one for each head, else for all
  DTC_MASK_QUERIES = 8, ///< one for each query, else for all
};

/// Treatments of a product's result, as a set.
enum dtc_result {
  DTC_RESULT_ADDED = 1, ///< added to what is there, else it replaces that
  DTC_RESULT_SUMS = 2,  ///< kept in the type of sums: f32 of f16 and bf16
};

/// Size of the scratch of dtcrt_conv2d.
#define DTC_CONV_SCRATCH_BYTES (1 << 20)

/// Size of the scratch where dtc_conv_has_winograd holds, in types that a CPU
/// computes in f32.
#define DTC_WINOGRAD_SCRATCH_BYTES (8 << 20)

/// Whether a CPU may compute a convolution by Winograd's transforms: its
/// windows have 3 x 3 taps side by side and no stride, and there are enough
/// channels.
static inline int dtc_conv_has_winograd(int64_t kh, int64_t kw,
                                        int64_t stride_h, int64_t stride_w,
                                        int64_t dilation_h, int64_t dilation_w,
                                        int64_t channels, int64_t filters,
                                        int64_t groups) {
  return kh == 3 && kw == 3 && stride_h == 1 && stride_w == 1 &&
         dilation_h == 1 && dilation_w == 1 && groups == 1 && channels >= 16 &&
         filters >= 16;
}

/// State of one rank; opaque to generated code.
typedef struct dtc_context dtc_context;

/// Runs one training step, the evaluation of one batch, or a program between
/// steps, of one pipeline stage. Inputs, parameters and optimizer state are
/// read from, and results written to, the offsets that the manifest names: of
/// the arena, or, from DTC_HOST_MEMORY on, of `host`, which is null if the plan
/// has nothing there. An evaluation changes nothing that a step keeps.
typedef void (*dtc_step_fn)(dtc_context *ctx, char *arena, char *host);

/// The symbol `dtc_program_v1` of an object file.
typedef struct dtc_program {
  uint32_t abi_version; ///< DTC_ABI_VERSION of the compiler
  uint32_t num_stages;  ///< entries of `steps` and `evals`; the size of pp
  const dtc_step_fn *steps;
  const dtc_step_fn *evals;
  /// By the manifest's `programs`, then by stage.
  const dtc_step_fn *programs;
  const char *manifest;   ///< JSON, `manifest_size` bytes; schema below
  uint64_t manifest_size; ///< without a terminating zero
} dtc_program;

extern const dtc_program dtc_program_v1;

/// The end of an executable that contains its weights.
#define DTC_WEIGHTS_MARK "dtc-wts\n"

/// # Manifest
///
/// ```json
/// {
///   "model": "gpt2-tiny", "dtype": "f32",
///   "loss": "cross-entropy"|"bce"|"mse"|"output",
///   "mesh": [{"name": "pp", "size": 2}, {"name": "dp", "size": 4}],
///   "batch_axes": ["dp"],         // split the batch, major to minor
///   "replica_axis": "dp",         // optional
///   "microbatches": 4, "global_batch": 32,
///   "weights_file": "",           // path if weights are external
///   "optimizer": {"name": "adamw", "lr": 0.001, ...},   // printed at start
///   "groups": [["dp"], ["pp"]],   // axis sets of the collectives, by index
///   "permutations": [[1, 0]],     // of a group's members, by index; optional:
///                                 // whose input each gets
///   "phases": ["F", "W", "update"],       // stage functions, by index; "F.1"
///                                         // is F of chunk 1
///   "inputs": [{"name": "input_ids", "dtype": "i64", "shape": [32, 128],
///               "kind": "input"|"label"|"lr"|"step"|...,
///               "bound": [256],            // this and the next are optional
///               "ignore_index": -100}],
///   "parameters": [{"name": "wte", "dtype": "f32", "shape": [256, 128],
///                   "trainable": true,
///                   "splits": [{"axis": "tp", "dim": 0}],
///                   "tensor": {"name": "wte", "shape": [256, 128],
///                              "start": [0, 0]},
///                   "init": "file"|"zeros"|"ones"|"normal",
///                   "init_scale": 0.02,        // of "normal" only
///                   "aliases": ["lm_head"]}],  // optional
///   "buffers": ["mask"],
///   "stages": [{
///     "arena_bytes": 123456,
///     "host_bytes": 1024,           // optional: of the host's memory
///     "inputs": [{"index": 0, "offset": 0}],
///     "parameters": [{"index": 0, "offset": 4096,
///                     "gradient": {"offset": 8192},   // if it is kept
///                     "state": [{"name": "exp_avg", "offset": 12288,
///                                "shard": {"axes": ["dp"], "start": 0,
///                                          "length": 32768},
///                                // if each rank of an axis has its own:
///                                "each": "dp",
///                                // if it is not like the parameter:
///                                "tensor": {"shape": [1, 64, 4],
///                                           "splits": []},
///                                // if a checkpoint may lack it:
///                                "optional": true,
///                                // if no checkpoint has it:
///                                "transient": true}]}],
///     "loss": 64, "grad_norm": 72,           // offsets of f64 scalars
///     "eval": 128                            // offset of the sums, f64
///   }],
///   "worker_axis": "dp",            // optional, as the next
///   "server": {"ahead": 4, "rate_by_staleness": false},
///   "programs": [{"name": "average"},
///                {"name": "sync0", "period": 20, "turn": 0}],
///   "eval_sums": [{"name": "loss", "size": 1}, {"name": "count", "size": 1},
///                 {"name": "right", "size": 1}],
///   "language_model": true,         // optional, as the next two
///   "mixes_samples": true,
///   "record": {"dtype": "f32", "shape": [128, 256], "unpadded": [128, 250],
///              "splits": [{"axis": "tp", "dim": 1}], "stage": 1}
/// }
/// ```
///
/// * The mesh lists the axes of ranks, outermost first: rank = row-major index
///   of the coordinates. The micro-batch axis is not in it.
/// * The launch sets the size of the `replica_axis`, and the global batch is
///   proportional to it: `size`, `global_batch` and shapes are those of one
///   example. An input of kind `replicas` is that size, an f64 scalar; one of
///   kind `replica`, one i64, is the rank's coordinate on the axis.
/// * Input `shape` is the global batch. A stage's buffer of an input of kind
///   `input` or `label` holds the rank's own rows of all micro-batches, in
///   order: row block (m, d) of M x dp equal blocks of dimension 0, for
///   m = 0..M-1 and d = the rank's coordinate on the batch axes. The batches
///   of workers follow each other, and each is divided in this way. `lr` and
///   `step` are f64 scalars; `step` counts from 1. `bound` has the
///   exclusive upper bounds of an integer input's values, one for all or one
///   for each element of a sample (0: unknown): data outside are refused, the
///   `ignore_index` of a label excepted.
/// * `weights_file` is relative to the executable's folder: a safetensors file
///   with the tensor of every parameter whose init is "file". If it is empty,
///   that file follows the executable's code, then its size in bytes, as 8
///   bytes, little-endian, and last DTC_WEIGHTS_MARK.
/// * Files hold tensors. A parameter is the part of its tensor that begins at
///   `start` and has the parameter's `shape`: the whole, or one of several
///   parts. A rank's buffer holds the part of the parameter that `splits` give
///   it: in each dimension the block that its coordinates on the axes name,
///   major to minor.
/// * Optimizer state starts at zero, that named "ema" as the parameter; it has
///   the parameter's shape, dtype, splits.
/// * A place with a `shard` is divided further. The part that `splits` give a
///   rank is the elements start, start + 1, ... of a row of `length` elements.
///   The axis divides the row into equal parts, and `offset` is that of the
///   rank's part, by its coordinate on the axis. Other parameters have the rest
///   of the row.
/// * A parameter is on one stage, which loads, updates and saves it.
/// * `loss` and `grad_norm` hold, after a step, the values of the global batch
///   on every rank.
/// * `eval` holds, after an evaluation, sums over the global batch on every
///   rank, in the order of `eval_sums`: "loss" and "count" of plain losses;
///   "training_loss" and "training_count" of losses with label smoothing and
///   class weights, and of their weights; "right" and "top5" predictions; and
///   by class "class_hits", "class_predictions" and "class_labels". All but the
///   first two are optional.
/// * Each position of the `worker_axis` is a worker, which trains parameters of
///   its own on its share of the batch. A place with "each" has its own value
///   for each position of an axis. `loss` and `grad_norm` are the worker's, and
///   `gradient` holds that of its share.
/// * With a `server`, the ranks at position 0 of the `worker_axis` have the
///   parameters and states, and the others are workers. A step leaves what it
///   pushes in the states with "transient" true, "each" on the axis. The server
///   gets it in the same places, and program "apply" updates its parameters and
///   states by it. A worker is at most `ahead` steps ahead of the slowest. With
///   `rate_by_staleness`, the learning rate is divided by the number of updates
///   since the worker got its parameters, or else by the number of workers.
/// * `programs` run between steps and change what ranks keep: after step t if t
///   modulo `period` is `turn`. "average" runs on request: it replaces each
///   worker's parameters by their mean.
/// * `language_model`: labels are tokens of an input's vocabulary.
///   `mixes_samples`: predictions depend on pairs of samples of a batch.
/// * `record` is the model's output for dtcrt_record, without the batch
///   dimension. `splits` divide `shape` among the ranks of the stage. Elements
///   beyond `unpadded` are padding.
/// * A gradient holds, after a step, the gradient of the global batch.

/// # Stage functions

/// A plan runs the stage function of this index, of the manifest's `phases`,
/// until dtcrt_run_end, on a micro-batch, or once a step if `microbatch` is
/// negative. Runs do not nest.
void dtcrt_run_begin(dtc_context *ctx, int32_t function, int32_t microbatch);
void dtcrt_run_end(dtc_context *ctx);

/// # Evaluations

/// In the plan of an evaluation: `rows` are this rank's rows of the model's
/// output for a micro-batch, as the manifest's `record` describes it, in device
/// memory. The runtime may copy them; it keeps no reference.
void dtcrt_record(dtc_context *ctx, int32_t microbatch, const void *rows,
                  int64_t bytes);

/// # Library calls

/// C = op(A) op(B), or what `result`, a set of dtc_result, says; row-major and
/// contiguous, for each of `batch` consecutive matrices. op(A) is m x k, op(B)
/// is k x n; op transposes the last two dimensions when its flag is 1. dtype is
/// a floating-point type. Sums of f16 and bf16 are computed in f32 and rounded
/// once.
void dtcrt_matmul(dtc_context *ctx, int32_t dtype, int32_t transpose_a,
                  int32_t transpose_b, int32_t result, int64_t batch, int64_t m,
                  int64_t n, int64_t k, const void *a, const void *b, void *c);

/// # Grouped products
/// Implemented on CPUs. `matrices` matrices lie one after another, and an index
/// of type `index_type` (i32 or i64) names one for each row. dtype is a
/// floating-point type, `result` a set of dtc_result.

/// C, rows x n: row t is row t of A, rows x k, times op of matrix indices[t],
/// where op transposes if `transpose_weights` is 1. Each op(matrix) is k x n.
/// A row whose index names no matrix is NaN. Not DTC_RESULT_ADDED.
void dtcrt_grouped_matmul(dtc_context *ctx, int32_t dtype, int32_t index_type,
                          int32_t transpose_weights, int32_t result,
                          int64_t rows, int64_t matrices, int64_t n, int64_t k,
                          const void *a, const void *weights,
                          const void *indices, void *c);

/// C, matrices x m x n: matrix e is the sum of the outer products of rows t of
/// A, rows x m, and B, rows x n, where indices[t] is e.
void dtcrt_grouped_outer(dtc_context *ctx, int32_t dtype, int32_t index_type,
                         int32_t result, int64_t rows, int64_t matrices,
                         int64_t m, int64_t n, const void *a, const void *b,
                         const void *indices, void *c);

/// # Slots of experts
/// Implemented on CPUs. Rows are `groups` groups of `rows` rows. Slots are
/// experts x groups x capacity x width: slot (e, g, p) is the p-th row of group
/// g whose index, of type `index_type` (i32 or i64), is e. Further rows of an
/// expert have no slot. dtype is a floating-point type; rows that only move may
/// have any.

/// Copies rows to their slots; other slots are zero.
void dtcrt_dispatch(dtc_context *ctx, int32_t dtype, int32_t index_type,
                    int64_t groups, int64_t rows, int64_t experts,
                    int64_t capacity, int64_t width, const void *from,
                    const void *indices, void *slots);

/// Copies slots to their rows; rows without a slot are zero.
void dtcrt_combine(dtc_context *ctx, int32_t dtype, int32_t index_type,
                   int64_t groups, int64_t rows, int64_t experts,
                   int64_t capacity, int64_t width, const void *slots,
                   const void *indices, void *to);

/// Counts the slots that rows fill, experts x groups.
void dtcrt_count_rows(dtc_context *ctx, int32_t index_type, int64_t groups,
                      int64_t rows, int64_t experts, int64_t capacity,
                      const void *indices, int32_t *counts);

/// C, in slots of n elements: the first counts[e, g] slots of each block are
/// those of A, of k elements, times op of weights[e], k x n; others are zero.
/// Not DTC_RESULT_ADDED.
void dtcrt_expert_matmul(dtc_context *ctx, int32_t dtype,
                         int32_t transpose_weights, int32_t result,
                         int64_t experts, int64_t groups, int64_t capacity,
                         int64_t n, int64_t k, const void *a,
                         const void *weights, const int32_t *counts, void *c);

/// C, experts x m x n: matrix e is the sum of the outer products of the first
/// counts[e, g] slots of each block of A, of m elements, and B, of n elements.
void dtcrt_expert_outer(dtc_context *ctx, int32_t dtype, int32_t result,
                        int64_t experts, int64_t groups, int64_t capacity,
                        int64_t m, int64_t n, const void *a, const void *b,
                        const int32_t *counts, void *c);

/// # Attention
/// queries are batch x rows x heads x width, keys batch x cols x groups x
/// width, values batch x cols x groups x value_width; groups divides heads, and
/// head h has the keys and values of group h / (heads / groups). With `causal`,
/// row t sees the columns up to t. `mask`, of what `mask_dims` says (a set of
/// dtc_attention_mask) times cols elements, is added to the scaled scores; -inf
/// hides a column. result is batch x rows x heads x value_width; lse, batch x
/// heads x rows in the type of sums, is the logarithm of the sum of
/// exponentials of each row. On CPUs a row that sees nothing has result 0 and
/// lse +inf; on GPUs each row sees the first column, or its mask has no -inf.
/// dtype, that of all else, is a floating-point type; scores are kept in the
/// type of sums.

void dtcrt_attention(dtc_context *ctx, int32_t dtype, int32_t causal,
                     double scale, int64_t batch, int64_t rows, int64_t cols,
                     int64_t heads, int64_t groups, int64_t width,
                     int64_t value_width, int32_t mask_dims,
                     const void *queries, const void *keys, const void *values,
                     const void *mask, void *result, void *lse);

/// The gradients of queries, keys and values from that of the result. The mask
/// has none.
void dtcrt_attention_grad(dtc_context *ctx, int32_t dtype, int32_t causal,
                          double scale, int64_t batch, int64_t rows,
                          int64_t cols, int64_t heads, int64_t groups,
                          int64_t width, int64_t value_width, int32_t mask_dims,
                          const void *queries, const void *keys,
                          const void *values, const void *mask,
                          const void *result, const void *lse,
                          const void *dresult, void *dqueries, void *dkeys,
                          void *dvalues);

/// # Compressed gradients
/// Implemented on CPUs. dtype is a floating-point type.

/// For each row of x, rows x columns, the columns of the k elements of largest
/// magnitude, in ascending order. Of equal magnitudes the first are taken; NaN
/// is the largest.
void dtcrt_top_k(dtc_context *ctx, int32_t dtype, int64_t rows, int64_t columns,
                 int64_t k, const void *x, int32_t *indices);

/// Gram-Schmidt, twice, on the columns of each matrix of x, batch x rows x
/// columns, from the first column on. A column of zeros stays zero.
void dtcrt_orthonormalize(dtc_context *ctx, int32_t dtype, int64_t batch,
                          int64_t rows, int64_t columns, const void *x,
                          void *y);

/// # Windows
/// Convolutions and poolings have channels last. x is n x h x w x c; each image
/// of y is oh x ow pixels. The window of output pixel (oy, ox) is kh x kw
/// pixels of x; (i, j) of it is pixel
///
///     (oy * stride_h - pad_top + i * dilation_h,
///      ox * stride_w - pad_left + j * dilation_w),
///
/// which may lie outside of x: how much of it is below and to the right
/// follows from oh and ow. dtype is a floating-point type. No buffers overlap;
/// sizes, strides, dilations and groups are at least 1, padding at least 0.

/// A 2-D convolution, or one of its gradients: `role` is a dtc_conv_role.
///
///     y[b, oy, ox, f] = sum over i, j, p of
///                       x[b, window(oy, ox, i, j), g * c / groups + p]
///                     * weight[f, i, j, p],      g = f / (filters / groups)
///
/// where x is zero outside. weight is filters x kh x kw x (c / groups), y is
/// n x oh x ow x filters; groups divides c and filters. The role's result is
/// written to its own operand (x, weight or y) as `result`, a set of
/// dtc_result, says; a gradient of y is read from y. `scratch` is
/// DTC_CONV_SCRATCH_BYTES, or DTC_WINOGRAD_SCRATCH_BYTES of what is not f64
/// where dtc_conv_has_winograd, aligned to 64 bytes, its contents of no meaning
/// before and after.
void dtcrt_conv2d(dtc_context *ctx, int32_t dtype, int32_t role, int32_t result,
                  int64_t n, int64_t h, int64_t w, int64_t c, int64_t oh,
                  int64_t ow, int64_t kh, int64_t kw, int64_t stride_h,
                  int64_t stride_w, int64_t pad_top, int64_t pad_left,
                  int64_t dilation_h, int64_t dilation_w, int64_t filters,
                  int64_t groups, void *x, void *weight, void *y,
                  void *scratch);

/// A pooling, or its gradient: `role` is a dtc_pool_role. y is n x oh x ow x c,
/// dx is like x. Only what is inside of x counts; no window is wholly outside.
///
/// | role     | reads | writes | which is                                    |
/// |----------|-------|--------|---------------------------------------------|
/// | MAX      | x     | y      | the maximum; NaN if the window has one      |
/// | MAX_GRAD | x, y  | dx     | y added where its window has its maximum:   |
/// |          |       |        | at the first, row by row (the last NaN)     |
/// | SUM      | x     | y      | the sum                                     |
/// | SUM_GRAD | y     | dx     | y added at each pixel of its window         |
///
/// In gradients y is the gradient of y, and what no window gives anything is
/// zero. What a role does not use may be null.
void dtcrt_pool2d(dtc_context *ctx, int32_t dtype, int32_t role, int64_t n,
                  int64_t h, int64_t w, int64_t c, int64_t oh, int64_t ow,
                  int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w,
                  int64_t pad_top, int64_t pad_left, int64_t dilation_h,
                  int64_t dilation_w, const void *x, void *y, void *dx);

/// Runs the iterations from `first` to `end` of a loop, which are independent
/// of each other, on as many threads of the rank as `work` is worth (one unit
/// is about a multiplication of a matrix product). Each calls body(buffers,
/// from, to) with a range of them. On CPUs only.
void dtcrt_divide(dtc_context *ctx, int64_t first, int64_t end, int64_t work,
                  void (*body)(void *const *buffers, int64_t from, int64_t to),
                  void *const *buffers);

/// # Communication
/// `group` indexes the manifest's `groups`; members are in the order of their
/// coordinates on the group's axes, the last axis fastest. A member's input has
/// one share, or one for each member, in their order; so has its output. A
/// share is `count` elements, or `bytes` bytes where elements only move. No
/// buffers overlap. Every call aborts the whole job with one message on
/// failure; none returns an error.
///
/// Shares may alternate in `input_blocks` (`output_blocks`) blocks: the buffer
/// is this many times an equal block of each member's share, as the parts of a
/// dimension lie in a tensor. `scratch` is as large as each buffer that has
/// more than one block, together.
///
/// A collective whose name ends in `_start` returns before it is done: until
/// dtcrt_wait of its slot nobody may read or write its output, or write its
/// input. Its shares are in one block. Slots of collectives are
/// DTC_MAX_MESSAGE_SLOTS <= slot < DTC_MAX_MESSAGE_SLOTS +
/// DTC_MAX_COLLECTIVE_SLOTS, on each member its own. All members of a group
/// start its collectives, those of both forms, in the same order. What is in
/// flight goes on in every call below that blocks, and a little in each library
/// call.

/// Combines the members' buffers, in place.
void dtcrt_all_reduce(dtc_context *ctx, int32_t group, int32_t dtype,
                      int32_t reduction, void *buffer, int64_t count);
void dtcrt_all_reduce_start(dtc_context *ctx, int32_t group, int32_t slot,
                            int32_t dtype, int32_t reduction, void *buffer,
                            int64_t count);

/// Combines the members' inputs and keeps the own share of the result: the
/// input has a share for each member, the output is one.
void dtcrt_reduce_scatter(dtc_context *ctx, int32_t group, int32_t dtype,
                          int32_t reduction, const void *input, void *output,
                          void *scratch, int64_t input_blocks, int64_t count);
void dtcrt_reduce_scatter_start(dtc_context *ctx, int32_t group, int32_t slot,
                                int32_t dtype, int32_t reduction,
                                const void *input, void *output, int64_t count);

/// Joins the members' inputs, of one share: the output has all of them.
void dtcrt_all_gather(dtc_context *ctx, int32_t group, const void *input,
                      void *output, void *scratch, int64_t output_blocks,
                      int64_t bytes);
void dtcrt_all_gather_start(dtc_context *ctx, int32_t group, int32_t slot,
                            const void *input, void *output, int64_t bytes);

/// Gives each member its share of the input; the output has what each member
/// gave to this one.
void dtcrt_all_to_all(dtc_context *ctx, int32_t group, const void *input,
                      void *output, void *scratch, int64_t input_blocks,
                      int64_t output_blocks, int64_t bytes);
void dtcrt_all_to_all_start(dtc_context *ctx, int32_t group, int32_t slot,
                            const void *input, void *output, int64_t bytes);

/// Gets another member's input: entry i of the manifest's permutation is the
/// member whose input member i gets. Both buffers are one share.
void dtcrt_collective_permute(dtc_context *ctx, int32_t group,
                              int32_t permutation, const void *input,
                              void *output, int64_t bytes);
void dtcrt_collective_permute_start(dtc_context *ctx, int32_t group,
                                    int32_t slot, int32_t permutation,
                                    const void *input, void *output,
                                    int64_t bytes);

/// Copies the own part of a dimension, without communication. The input is
/// `outer` times a block of `bytes` bytes for each member.
void dtcrt_local_slice(dtc_context *ctx, int32_t group, const void *input,
                       void *output, int64_t outer, int64_t bytes);

/// Starts sending to the rank whose pp coordinate is `stage` and whose other
/// coordinates are ours. The buffer must not be written before the wait.
/// `slot` (0 <= slot < DTC_MAX_MESSAGE_SLOTS) names what is in flight for
/// dtcrt_wait.
void dtcrt_send(dtc_context *ctx, int32_t stage, int32_t tag, int32_t slot,
                const void *buffer, int64_t bytes);

/// Starts receiving from that rank. Nobody may touch the buffer before the
/// wait.
void dtcrt_recv(dtc_context *ctx, int32_t stage, int32_t tag, int32_t slot,
                void *buffer, int64_t bytes);

/// Waits until the send in `slot` has left its buffer, the message has arrived,
/// or the collective is done.
void dtcrt_wait(dtc_context *ctx, int32_t slot);

/// # Observation
/// Not part of the runtime: a library that is preloaded may define it. It is
/// called on every rank when a step begins (`begin` is 1), before its data are
/// loaded, and when its results are there (0). Steps count from 1.
void dtcrt_step_hook(int64_t step, int32_t begin);

#ifdef __cplusplus
} // extern "C"

static_assert(sizeof(dtc_program) == 48, "dtc_program is part of the ABI");
static_assert(offsetof(dtc_program, steps) == 8, "ABI layout");
static_assert(offsetof(dtc_program, evals) == 16, "ABI layout");
static_assert(offsetof(dtc_program, programs) == 24, "ABI layout");
static_assert(offsetof(dtc_program, manifest) == 32, "ABI layout");
#endif

#endif // DTC_RUNTIME_ABI_H
