//===- OpABI.h - a program's calls about its ops ------------------*- C -*-===//
//
// The part of the runtime's interface (ABI.h) by which programs show where
// their time goes, and which op makes the first number that is none.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_RUNTIME_OPABI_H
#define DTC_RUNTIME_OPABI_H

#include "dtc/Runtime/ABI.h"

#ifdef __cplusplus
extern "C" {
#endif

/// # Manifest
///
/// These keys are optional:
///
/// ```json
/// {
///   "model_flops": 1234567, "peak_flops": 989e12,
///   "ops": [{"name": "kernel_add_relu", "node": "/act/Relu",
///            "flops": 123, "bytes": 4567}]
/// }
/// ```
///
/// * `model_flops` are what the model asks of all ranks in a step: three times
///   the products of its forward pass. What is recomputed is not in it.
/// * `peak_flops` is what the device of a rank, for which the program was
///   compiled, can do in a second.
/// * Each of `ops` is a launch or a library call of a stage's function: what it
///   runs, the ONNX node that it comes from (optional), and what one execution
///   costs a rank: arithmetic, and bytes that it reads and writes at least (0:
///   unknown).

/// # Ops

/// A stage's function runs one of the manifest's `ops`, until dtcrt_op_end. Ops
/// do not nest.
void dtcrt_op_begin(dtc_context *ctx, int32_t op);
/// Tells the runtime a result of the op: `count` elements of a floating-point
/// type. Call it before dtcrt_op_end, once for each result.
void dtcrt_op_result(dtc_context *ctx, int32_t dtype, const void *result,
                     int64_t count);
void dtcrt_op_end(dtc_context *ctx);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // DTC_RUNTIME_OPABI_H
