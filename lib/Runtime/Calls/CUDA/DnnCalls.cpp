//===- DnnCalls.cpp - the ABI's calls of cuDNN ----------------------------===//
//
// A file of its own: only programs with convolutions or attention link it.
//
//===----------------------------------------------------------------------===//

#include "Core/Elements.h"
#include "Core/Fatal.h"
#include "Device/CUDA/CudaDevice.h"
#include "Device/RecordedCalls.h"
#include "Program/Context.h"

using namespace dtc::rt;

void dtcrt_conv2d(dtc_context *context, int32_t dtype, int32_t role,
                  int32_t result, int64_t n, int64_t h, int64_t w, int64_t c,
                  int64_t oh, int64_t ow, int64_t kh, int64_t kw,
                  int64_t strideH, int64_t strideW, int64_t padTop,
                  int64_t padLeft, int64_t dilationH, int64_t dilationW,
                  int64_t filters, int64_t groups, void *x, void *weight,
                  void *y, void *) {
  DnnConvolution shape = {expectFloat("conv2d", dtype),
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
                          groups};
  auto describe = [&] {
    return describeConvolution(dtype, role, result, n, h, w, c, oh, ow, kh, kw,
                               strideH, strideW, dilationH, dilationW, filters,
                               groups);
  };
  makeCall(context, describe,
           [=] { deviceOf(context).dnn().convolve(shape, x, weight, y); });
}

/// Makes or records a call of attention.
template <size_t count>
static void attend(dtc_context *context, const DnnAttention &shape, bool isGrad,
                   const std::array<const void *, count> &operands) {
  auto describe = [&] {
    return describeAttention(shape.dtype, isGrad, shape.causal, shape.batch,
                             shape.rows, shape.cols, shape.heads, shape.groups,
                             shape.width, shape.valueWidth, shape.maskDims);
  };
  makeCall(context, describe,
           [=] { deviceOf(context).dnn().attend(shape, isGrad, operands); });
}

static DnnAttention shapeOf(int32_t dtype, int32_t causal, double scale,
                            int64_t batch, int64_t rows, int64_t cols,
                            int64_t heads, int64_t groups, int64_t width,
                            int64_t valueWidth, int32_t maskDims = 0) {
  if (dtype != DTC_F16 && dtype != DTC_BF16)
    fatal("attention of element type %d, expected one of 16 bits", dtype);
  DnnAttention shape =
      DnnAttention::dense(dtc_dtype(dtype), causal != 0, scale, batch, rows,
                          cols, heads, groups, width, valueWidth);
  shape.maskDims = maskDims;
  return shape;
}

void dtcrt_attention(dtc_context *context, int32_t dtype, int32_t causal,
                     double scale, int64_t batch, int64_t rows, int64_t cols,
                     int64_t heads, int64_t groups, int64_t width,
                     int64_t valueWidth, int32_t maskDims, const void *queries,
                     const void *keys, const void *values, const void *mask,
                     void *result, void *lse) {
  attend(context,
         shapeOf(dtype, causal, scale, batch, rows, cols, heads, groups, width,
                 valueWidth, maskDims),
         /*isGrad=*/false,
         std::array<const void *, 6>{queries, keys, values, mask, result, lse});
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
  attend(context,
         shapeOf(dtype, causal, scale, batch, rows, cols, heads, groups, width,
                 valueWidth, maskDims),
         /*isGrad=*/true,
         std::array<const void *, 10>{queries, keys, values, mask, result, lse,
                                      dresult, dqueries, dkeys, dvalues});
}

/// The shape of an attention with queries, keys and values in one tensor.
static DnnAttention packedShapeOf(int32_t dtype, int32_t causal, int32_t byHead,
                                  double scale, int64_t batch, int64_t rows,
                                  int64_t heads, int64_t width) {
  DnnAttention shape = shapeOf(dtype, causal, scale, batch, rows, rows, heads,
                               heads, width, width);
  shape.pack(byHead != 0);
  return shape;
}

/// The begin of part 0, 1 or 2 of a packed tensor.
static const char *partOf(const void *packed, int64_t part, int32_t byHead,
                          int64_t heads, int64_t width) {
  return static_cast<const char *>(packed) +
         part * (byHead ? width : heads * width) * 2;
}

void dtcrt_packed_attention(dtc_context *context, int32_t dtype, int32_t causal,
                            int32_t byHead, double scale, int64_t batch,
                            int64_t rows, int64_t heads, int64_t width,
                            const void *packed, void *result, void *lse) {
  auto part = [&](int64_t number) {
    return partOf(packed, number, byHead, heads, width);
  };
  attend(context,
         packedShapeOf(dtype, causal, byHead, scale, batch, rows, heads, width),
         /*isGrad=*/false,
         std::array<const void *, 6>{part(0), part(1), part(2), nullptr, result,
                                     lse});
}

void dtcrt_packed_attention_grad(dtc_context *context, int32_t dtype,
                                 int32_t causal, int32_t byHead, double scale,
                                 int64_t batch, int64_t rows, int64_t heads,
                                 int64_t width, const void *packed,
                                 const void *result, const void *lse,
                                 const void *dresult, void *dpacked) {
  auto part = [&](const void *tensor, int64_t number) {
    return partOf(tensor, number, byHead, heads, width);
  };
  attend(context,
         packedShapeOf(dtype, causal, byHead, scale, batch, rows, heads, width),
         /*isGrad=*/true,
         std::array<const void *, 10>{part(packed, 0), part(packed, 1),
                                      part(packed, 2), nullptr, result, lse,
                                      dresult, part(dpacked, 0),
                                      part(dpacked, 1), part(dpacked, 2)});
}
