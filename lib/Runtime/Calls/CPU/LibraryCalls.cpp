//===- LibraryCalls.cpp - the ABI's library calls on CPUs -----------------===//

#include "Collectives/Collectives.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Device/CPU/Compression/Orthonormalize.h"
#include "Device/CPU/Compression/TopK.h"
#include "Device/CPU/Convolution/Convolution.h"
#include "Device/CPU/Convolution/Pooling.h"
#include "Device/CPU/Grouped/Slots.h"
#include "Device/CPU/HostDevice.h"
#include "Device/RecordedCalls.h"
#include "Program/Context.h"

using namespace dtc::rt;

/// Returns the device of a call, and progresses operations in flight for a
/// short time.
static HostDevice &beginCall(dtc_context *context) {
  context->collectives.poll();
  return static_cast<HostDevice &>(context->device);
}

static bool isNarrow(dtc_dtype dtype) { return sizeOf(dtype) == 2; }

void dtcrt_matmul(dtc_context *context, int32_t dtype, int32_t transposeA,
                  int32_t transposeB, int32_t result, int64_t batch, int64_t m,
                  int64_t n, int64_t k, const void *a, const void *b, void *c) {
  MatMulShape shape = {expectFloat("matmul", dtype),
                       transposeA != 0,
                       transposeB != 0,
                       (result & DTC_RESULT_ADDED) != 0,
                       batch,
                       m,
                       n,
                       k,
                       (result & DTC_RESULT_SUMS) != 0};
  auto describe = [&] {
    RecordedCall call =
        describeProduct(dtype, transposeA, transposeB, result, batch, m, n, k);
    call.product = {shape.dtype,
                    result & DTC_RESULT_SUMS ? DTC_F32 : shape.dtype,
                    a,
                    b,
                    c,
                    batch * m * k,
                    batch * k * n,
                    batch * m * n,
                    k};
    return call;
  };
  makeCall(context, describe, [=] {
    HostDevice &device = beginCall(context);
    if (isNarrow(shape.dtype))
      device.narrow.multiply(shape, a, b, c);
    else
      device.matmul.run(shape, a, b, c);
  });
}

void dtcrt_grouped_matmul(dtc_context *context, int32_t dtype,
                          int32_t indexType, int32_t transposeWeights,
                          int32_t result, int64_t rows, int64_t matrices,
                          int64_t n, int64_t k, const void *a,
                          const void *weights, const void *indices, void *c) {
  GroupedShape shape = {expectFloat("grouped_matmul", dtype),
                        dtc_dtype(indexType),
                        transposeWeights != 0,
                        (result & DTC_RESULT_ADDED) != 0,
                        (result & DTC_RESULT_SUMS) != 0,
                        rows,
                        matrices,
                        k,
                        n};
  auto describe = [&] {
    return describeGrouped(dtype, result, rows, matrices, n, k,
                           transposeWeights ? ", weights transposed" : "");
  };
  makeCall(context, describe, [=] {
    beginCall(context).grouped.multiply(shape, a, weights, indices, c);
  });
}

void dtcrt_grouped_outer(dtc_context *context, int32_t dtype, int32_t indexType,
                         int32_t result, int64_t rows, int64_t matrices,
                         int64_t m, int64_t n, const void *a, const void *b,
                         const void *indices, void *c) {
  GroupedShape shape = {expectFloat("grouped_outer", dtype),
                        dtc_dtype(indexType),
                        false,
                        (result & DTC_RESULT_ADDED) != 0,
                        (result & DTC_RESULT_SUMS) != 0,
                        rows,
                        matrices,
                        m,
                        n};
  auto describe = [&] {
    return describeGrouped(dtype, result, rows, matrices, m, n,
                           ", outer products");
  };
  makeCall(context, describe, [=] {
    beginCall(context).grouped.sumOuter(shape, a, b, indices, c);
  });
}

void dtcrt_expert_matmul(dtc_context *context, int32_t dtype,
                         int32_t transposeWeights, int32_t result,
                         int64_t experts, int64_t groups, int64_t capacity,
                         int64_t n, int64_t k, const void *slots,
                         const void *weights, const int32_t *counts, void *c) {
  ExpertShape shape = {expectFloat("expert_matmul", dtype),
                       transposeWeights != 0,
                       (result & DTC_RESULT_ADDED) != 0,
                       (result & DTC_RESULT_SUMS) != 0,
                       experts,
                       groups,
                       capacity,
                       k,
                       n};
  auto describe = [&] {
    RecordedCall call = describeGrouped(
        dtype, result, experts * groups * capacity, experts, n, k,
        transposeWeights ? ", in slots, weights transposed" : ", in slots");
    call.flops = 0; // by how many slots are filled
    return call;
  };
  makeCall(context, describe, [=] {
    beginCall(context).grouped.multiplySlots(shape, slots, weights, counts, c);
  });
}

void dtcrt_expert_outer(dtc_context *context, int32_t dtype, int32_t result,
                        int64_t experts, int64_t groups, int64_t capacity,
                        int64_t m, int64_t n, const void *a, const void *b,
                        const int32_t *counts, void *c) {
  ExpertShape shape = {expectFloat("expert_outer", dtype),
                       false,
                       (result & DTC_RESULT_ADDED) != 0,
                       (result & DTC_RESULT_SUMS) != 0,
                       experts,
                       groups,
                       capacity,
                       m,
                       n};
  auto describe = [&] {
    RecordedCall call =
        describeGrouped(dtype, result, experts * groups * capacity, experts, m,
                        n, ", in slots, outer products");
    call.flops = 0; // by how many slots are filled
    return call;
  };
  makeCall(context, describe, [=] {
    beginCall(context).grouped.sumOuterSlots(shape, a, b, counts, c);
  });
}

/// "rows to slots, 2 x 32 f32 of 64 elements, 8 experts of 16".
static RecordedCall describeSlots(const char *what, const SlotShape &s) {
  RecordedCall call;
  call.what =
      format("%s, %lld x %lld %s of %lld elements, %lld experts of "
             "%lld",
             what, (long long)s.groups, (long long)s.rows, nameOf(s.dtype),
             (long long)s.width, (long long)s.experts, (long long)s.capacity);
  return call;
}

void dtcrt_dispatch(dtc_context *context, int32_t dtype, int32_t indexType,
                    int64_t groups, int64_t rows, int64_t experts,
                    int64_t capacity, int64_t width, const void *from,
                    const void *indices, void *slots) {
  SlotShape shape = {dtc_dtype(dtype),
                     dtc_dtype(indexType),
                     groups,
                     rows,
                     experts,
                     capacity,
                     width};
  auto describe = [&] { return describeSlots("rows to slots", shape); };
  makeCall(context, describe, [=] {
    dispatchRows(beginCall(context).matmul.threads(), shape, from, indices,
                 slots);
  });
}

void dtcrt_combine(dtc_context *context, int32_t dtype, int32_t indexType,
                   int64_t groups, int64_t rows, int64_t experts,
                   int64_t capacity, int64_t width, const void *slots,
                   const void *indices, void *to) {
  SlotShape shape = {dtc_dtype(dtype),
                     dtc_dtype(indexType),
                     groups,
                     rows,
                     experts,
                     capacity,
                     width};
  auto describe = [&] { return describeSlots("slots to rows", shape); };
  makeCall(context, describe, [=] {
    combineRows(beginCall(context).matmul.threads(), shape, slots, indices, to);
  });
}

void dtcrt_count_rows(dtc_context *context, int32_t indexType, int64_t groups,
                      int64_t rows, int64_t experts, int64_t capacity,
                      const void *indices, int32_t *counts) {
  SlotShape shape = {
      DTC_F32, dtc_dtype(indexType), groups, rows, experts, capacity, 0};
  auto describe = [&] { return describeSlots("number of rows", shape); };
  makeCall(context, describe, [=] {
    beginCall(context);
    countRows(shape, indices, counts);
  });
}

void dtcrt_attention(dtc_context *context, int32_t dtype, int32_t causal,
                     double scale, int64_t batch, int64_t rows, int64_t cols,
                     int64_t heads, int64_t groups, int64_t width,
                     int64_t valueWidth, int32_t maskDims, const void *queries,
                     const void *keys, const void *values, const void *mask,
                     void *result, void *lse) {
  auto describe = [&] {
    return describeAttention(dtype, /*isGrad=*/false, causal != 0, batch, rows,
                             cols, heads, groups, width, valueWidth, maskDims);
  };
  makeCall(context, describe, [=] {
    HostDevice &device = beginCall(context);
    device.attention.forward({expectFloat("attention", dtype), causal != 0,
                              scale, batch, rows, cols, heads, groups, width,
                              valueWidth, maskDims},
                             {queries, keys, values, mask}, result, lse);
  });
}

void dtcrt_attention_grad(dtc_context *context, int32_t dtype, int32_t causal,
                          double scale, int64_t batch, int64_t rows,
                          int64_t cols, int64_t heads, int64_t groups,
                          int64_t width, int64_t valueWidth, int32_t maskDims,
                          const void *queries, const void *keys,
                          const void *values, const void *mask,
                          const void *result, const void *lse,
                          const void *dresult, void *dqueries, void *dkeys,
                          void *dvalues) {
  auto describe = [&] {
    return describeAttention(dtype, /*isGrad=*/true, causal != 0, batch, rows,
                             cols, heads, groups, width, valueWidth, maskDims);
  };
  makeCall(context, describe, [=] {
    HostDevice &device = beginCall(context);
    device.attention.backward({expectFloat("attention_grad", dtype),
                               causal != 0, scale, batch, rows, cols, heads,
                               groups, width, valueWidth, maskDims},
                              {queries, keys, values, mask},
                              {result, lse, dresult, dqueries, dkeys, dvalues});
  });
}

void dtcrt_conv2d(dtc_context *context, int32_t dtype, int32_t role,
                  int32_t result, int64_t n, int64_t h, int64_t w, int64_t c,
                  int64_t oh, int64_t ow, int64_t kh, int64_t kw,
                  int64_t strideH, int64_t strideW, int64_t padTop,
                  int64_t padLeft, int64_t dilationH, int64_t dilationW,
                  int64_t filters, int64_t groups, void *x, void *weight,
                  void *y, void *scratch) {
  auto &device = static_cast<HostDevice &>(context->device);
  ConvolutionShape shape = {expectFloat("conv2d", dtype),
                            dtc_conv_role(role),
                            (result & DTC_RESULT_ADDED) != 0,
                            {n, h, w, c, oh, ow, kh, kw, strideH, strideW,
                             padTop, padLeft, dilationH, dilationW},
                            filters,
                            groups,
                            (result & DTC_RESULT_SUMS) != 0,
                            device.winograd};
  auto describe = [&] {
    return describeConvolution(dtype, role, result, n, h, w, c, oh, ow, kh, kw,
                               strideH, strideW, dilationH, dilationW, filters,
                               groups);
  };
  makeCall(context, describe, [=] {
    HostDevice &device = beginCall(context);
    if (isNarrow(shape.dtype))
      device.narrow.convolve(shape, x, weight, y, scratch);
    else
      convolve(device.matmul, shape, x, weight, y, scratch);
  });
}

void dtcrt_pool2d(dtc_context *context, int32_t dtype, int32_t role, int64_t n,
                  int64_t h, int64_t w, int64_t c, int64_t oh, int64_t ow,
                  int64_t kh, int64_t kw, int64_t strideH, int64_t strideW,
                  int64_t padTop, int64_t padLeft, int64_t dilationH,
                  int64_t dilationW, const void *x, void *y, void *dx) {
  dtc_dtype type = expectFloat("pool2d", dtype);
  Windows windows = {n,      h,       w,         c,        oh,
                     ow,     kh,      kw,        strideH,  strideW,
                     padTop, padLeft, dilationH, dilationW};
  auto poolRole = dtc_pool_role(role);
  auto describe = [&] {
    RecordedCall call;
    call.what =
        format("pooling %s, role %d, %lld x %lld x %lld of %lld "
               "channels by %lld x %lld",
               nameOf(type), role, (long long)n, (long long)oh, (long long)ow,
               (long long)c, (long long)kh, (long long)kw);
    return call;
  };
  makeCall(context, describe, [=] {
    HostDevice &device = beginCall(context);
    if (isNarrow(type))
      device.narrow.pool(type, poolRole, windows, x, y, dx);
    else
      pool(device.matmul.threads(), type, poolRole, windows, x, y, dx);
  });
}

void dtcrt_top_k(dtc_context *context, int32_t dtype, int64_t rows,
                 int64_t columns, int64_t k, const void *x, int32_t *indices) {
  dtc_dtype type = expectFloat("top_k", dtype);
  auto describe = [&] {
    RecordedCall call;
    call.what =
        format("largest %lld of %lld elements, %lld rows of %s", (long long)k,
               (long long)columns, (long long)rows, nameOf(type));
    return call;
  };
  makeCall(context, describe, [=] {
    HostDevice &device = beginCall(context);
    selectLargest(device.matmul.threads(), type, rows, columns, k, x, indices);
  });
}

void dtcrt_orthonormalize(dtc_context *context, int32_t dtype, int64_t batch,
                          int64_t rows, int64_t columns, const void *x,
                          void *y) {
  dtc_dtype type = expectFloat("orthonormalize", dtype);
  auto describe = [&] {
    RecordedCall call;
    call.what = format("orthonormal columns of %lld matrices %lld x %lld %s",
                       (long long)batch, (long long)rows, (long long)columns,
                       nameOf(type));
    return call;
  };
  makeCall(context, describe, [=] {
    beginCall(context);
    orthonormalize(type, batch, rows, columns, x, y);
  });
}

void dtcrt_divide(dtc_context *context, int64_t first, int64_t end,
                  int64_t work,
                  void (*body)(void *const *buffers, int64_t from, int64_t to),
                  void *const *buffers) {
  HostDevice &device = static_cast<HostDevice &>(context->device);
  device.matmul.threads().divide(end - first, work,
                                 [&](int64_t from, int64_t to) {
                                   body(buffers, first + from, first + to);
                                 });
}
