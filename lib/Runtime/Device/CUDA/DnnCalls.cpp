//===- DnnCalls.cpp - the ABI's calls of cuDNN ----------------------------===//
//
// Apart from other calls: only programs that have convolutions or
// attention link this.
//
//===----------------------------------------------------------------------===//

#include "Core/Context.h"
#include "CudaDevice.h"

using namespace dtc::rt;

void dtcrt_conv2d(dtc_context *context, int32_t dtype, int32_t role,
                  int32_t result, int64_t n, int64_t h, int64_t w, int64_t c,
                  int64_t oh, int64_t ow, int64_t kh, int64_t kw,
                  int64_t strideH, int64_t strideW, int64_t padTop,
                  int64_t padLeft, int64_t dilationH, int64_t dilationW,
                  int64_t filters, int64_t groups, void *x, void *weight,
                  void *y, void *) {
  deviceOf(context).dnn().convolve({expectFloat("conv2d", dtype),
                                    dtc_conv_role(role),
                                    (result & DTC_RESULT_ADDED) != 0,
                                    (result & DTC_RESULT_SUMS) != 0,
                                    n,
                                    h,
                                    w,
                                    c,
                                    oh,
                                    ow,
                                    kh,
                                    kw,
                                    strideH,
                                    strideW,
                                    padTop,
                                    padLeft,
                                    dilationH,
                                    dilationW,
                                    filters,
                                    groups},
                                   x, weight, y);
}

static DnnAttention shapeOf(int32_t dtype, int32_t causal, double scale,
                            int64_t batch, int64_t rows, int64_t cols,
                            int64_t heads, int64_t groups, int64_t width,
                            int64_t valueWidth, int32_t maskDims) {
  if (maskDims || (dtype != DTC_F16 && dtype != DTC_BF16))
    fatal("attention of element type %d, %s a mask, expected 16 bits and none",
          dtype, maskDims ? "with" : "without");
  return {dtc_dtype(dtype), causal != 0, scale,      batch, rows,  cols, heads,
          groups,           width,       valueWidth, heads, groups};
}

void dtcrt_attention(dtc_context *context, int32_t dtype, int32_t causal,
                     double scale, int64_t batch, int64_t rows, int64_t cols,
                     int64_t heads, int64_t groups, int64_t width,
                     int64_t valueWidth, int32_t maskDims, const void *queries,
                     const void *keys, const void *values, const void *,
                     void *result, void *lse) {
  const void *operands[] = {queries, keys, values, result, lse};
  deviceOf(context).dnn().attend(shapeOf(dtype, causal, scale, batch, rows,
                                         cols, heads, groups, width, valueWidth,
                                         maskDims),
                                 /*isGrad=*/false, operands);
}

void dtcrt_attention_grad(dtc_context *context, int32_t dtype, int32_t causal,
                          double scale, int64_t batch, int64_t rows,
                          int64_t cols, int64_t heads, int64_t groups,
                          int64_t width, int64_t valueWidth, int32_t maskDims,
                          const void *queries, const void *keys,
                          const void *values, const void *, const void *result,
                          const void *lse, const void *dresult, void *dqueries,
                          void *dkeys, void *dvalues) {
  const void *operands[] = {queries, keys,     values, result, lse,
                            dresult, dqueries, dkeys,  dvalues};
  deviceOf(context).dnn().attend(shapeOf(dtype, causal, scale, batch, rows,
                                         cols, heads, groups, width, valueWidth,
                                         maskDims),
                                 /*isGrad=*/true, operands);
}
