//===- DnnCalls.cpp - the ABI's calls of cuDNN ----------------------------===//
//
// Apart from other calls: only programs that have convolutions link this.
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
