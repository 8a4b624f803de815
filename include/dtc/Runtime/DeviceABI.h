//===- DeviceABI.h - device code of a program --------------------*- C -*-===//
//
// What a program for GPUs exports and calls besides ABI.h: its device functions
// and constants. Everything it calls is put on streams, in the order of the
// calls; pointers are addresses of the device.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_RUNTIME_DEVICEABI_H
#define DTC_RUNTIME_DEVICEABI_H

#include "dtc/Runtime/ABI.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Raised whenever a struct or a signature in this file changes.
#define DTC_DEVICE_ABI_VERSION 4

/// Operations of a product before it stores (dtc.matmul_epilogue), and sums of
/// an operand (dtc.matmul_bias_grad).
enum dtc_epilogue {
  DTC_EPILOGUE_BIAS,
  DTC_EPILOGUE_RELU,
  DTC_EPILOGUE_GELU,
  DTC_EPILOGUE_GELU_GRAD,
  DTC_EPILOGUE_ADD,
  DTC_EPILOGUE_SUM_A,
  DTC_EPILOGUE_SUM_B,
};

/// A kernel of dtcrt_matmul_epilogue, as a function of the host that launches
/// it; how many buffers it takes follows from the epilogue.
typedef void (*dtc_epilogue_kernel)(void);

/// The most buffers of a device function: 4 KiB of pointers, which all
/// architectures accept.
#define DTC_MAX_DEVICE_ARGUMENTS 512

/// A thread of a device function that the host runs: see
/// `dtc_emulated_function`.
typedef struct dtc_emulated_thread {
  uint32_t thread; ///< its number in the block
  uint32_t block;  ///< the block's number in the grid
  char *shared;    ///< the block's shared memory, aligned to 16 bytes
  /// Returns when all threads of the block have come.
  void (*barrier)(struct dtc_emulated_thread *self);
  /// Returns the value of the thread of the warp whose number differs in the
  /// bits of `mask`; all 32 meet.
  uint32_t (*shuffle)(struct dtc_emulated_thread *self, uint32_t value,
                      uint32_t mask);
  uint64_t iterations; ///< of loops; the function adds those that it runs
} dtc_emulated_thread;

/// A device function as code of the host: what one thread does.
typedef void (*dtc_emulated_function)(dtc_emulated_thread *self,
                                      char *const *arguments);

/// The memory that a device function touches behind an argument.
typedef struct dtc_device_place {
  uint64_t bytes;
  uint64_t is_written; ///< else it is only read
} dtc_device_place;

typedef struct dtc_device_function {
  const char *name;
  uint32_t arguments; ///< pointers that it takes
  /// If it is emulated: bytes of shared memory, and whether the threads of a
  /// block meet, at barriers and shuffles.
  uint32_t shared_bytes, meets;
  /// Null but in a program of architecture "host".
  dtc_emulated_function emulated;
  const dtc_device_place *places; ///< of the arguments
} dtc_device_function;

/// Data that plans pass to library calls and device functions.
typedef struct dtc_device_constant {
  const void *data;
  uint64_t bytes;
} dtc_device_constant;

/// The symbol `dtc_device_v1` of an object file for GPUs.
typedef struct dtc_device_program {
  uint32_t abi_version; ///< DTC_DEVICE_ABI_VERSION of the compiler
  uint32_t num_functions;
  const dtc_device_function *functions;
  uint64_t num_constants;
  const dtc_device_constant *constants;
  /// "sm_90"; or "host": functions are emulated, for tests.
  const char *architecture;
  const char *ptx;   ///< text, with a terminating zero; null if emulated
  const void *cubin; ///< machine code of the architecture, or null
  uint64_t cubin_size;
  /// Bytes that convolutions and attention may use: the plan counts on them.
  uint64_t workspace_bytes;
} dtc_device_program;

extern const dtc_device_program dtc_device_v1;

/// Runs a device function: `blocks` of `threads`. `arguments` are the
/// addresses that it takes; they are read before the call returns.
void dtcrt_launch(dtc_context *ctx, int32_t function, int64_t blocks,
                  int32_t threads, char *const *arguments);

/// Copies bytes within the arena; the buffers do not overlap.
void dtcrt_copy(dtc_context *ctx, void *to, const void *from, int64_t bytes);

/// Sets bytes of the arena.
void dtcrt_fill(dtc_context *ctx, void *to, int32_t byte, int64_t bytes);

/// C = f(op(A) op(B), other), where `epilogue`, a dtc_epilogue, is f; matrices
/// as of dtcrt_matmul, of 16 bits. `other` has n elements, for GELU_GRAD and
/// ADD m x n. `bias`, of ADD, has n elements and is added, too, unless it is
/// null. `sum`, of GELU, gets the function's argument; null if nobody needs it.
///
/// SUM_A and SUM_B have f32 results, which go where `result`, a set of
/// dtc_result, says: the product, and in `sum`, which is replaced, the sums
/// over k of op(A), m elements, or of op(B), n elements. A is transposed for
/// SUM_A, and B is not for SUM_B: k counts rows.
///
/// `kernel` does the same to the plain product, which is where the result goes;
/// it is launched if the library lacks the epilogue. Its arguments are C,
/// other, bias unless that is null, then again C, sum unless that is null, and
/// ctx. It is null for SUM_A and SUM_B.
void dtcrt_matmul_epilogue(dtc_context *ctx, int32_t dtype, int32_t transpose_a,
                           int32_t transpose_b, int32_t epilogue,
                           int32_t result, int64_t m, int64_t n, int64_t k,
                           const void *a, const void *b, const void *other,
                           const void *bias, void *c, void *sum,
                           dtc_epilogue_kernel kernel);

/// dtcrt_attention without a mask, of queries, keys and values in one tensor:
/// `packed` is batch x rows x 3 x heads x width, or with `by_head` batch x rows
/// x heads x 3 x width.
void dtcrt_packed_attention(dtc_context *ctx, int32_t dtype, int32_t causal,
                            int32_t by_head, double scale, int64_t batch,
                            int64_t rows, int64_t heads, int64_t width,
                            const void *packed, void *result, void *lse);

/// The gradient of `packed`, from that of the result.
void dtcrt_packed_attention_grad(dtc_context *ctx, int32_t dtype,
                                 int32_t causal, int32_t by_head, double scale,
                                 int64_t batch, int64_t rows, int64_t heads,
                                 int64_t width, const void *packed,
                                 const void *result, const void *lse,
                                 const void *dresult, void *dpacked);

/// The address of a constant.
void *dtcrt_constant(dtc_context *ctx, int64_t constant);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // DTC_RUNTIME_DEVICEABI_H
