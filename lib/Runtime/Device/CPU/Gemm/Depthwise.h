//===- Depthwise.h - sums over windows, for one vector width ----*- C++ -*-===//
//
// Included like Kernel.h by one file per instruction set, with internal linkage
// for the same reason.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_DEPTHWISE_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_DEPTHWISE_H

#include "Gemm.h"

namespace dtc::rt {
namespace {

template <typename T, int vectorBytes> struct Depthwise {
  static constexpr int lanes = vectorBytes / sizeof(T);
  /// N vectors of `bytes` bytes for each pixel: sums that stay in registers.
  template <int bytes, int N>
  static void sumBlock(const DepthwiseArguments &g, const T *source,
                       const T *weight, T *target) {
    typedef T Vector __attribute__((vector_size(bytes), aligned(alignof(T))));
    Vector sum[N] = {};
    for (int64_t l = 0; l < g.lines; ++l) {
      const T *s = source + l * g.sourceLine, *w = weight + l * g.weightLine;
      for (int64_t t = 0; t < g.taps; ++t, s += g.sourceTap, w += g.weightTap)
#pragma clang loop unroll(full)
        for (int i = 0; i < N; ++i)
          sum[i] += ((const Vector *)s)[i] * ((const Vector *)w)[i];
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < N; ++i) {
      Vector *element = (Vector *)target + i;
      *element = g.accumulate ? *element + sum[i] : sum[i];
    }
  }

  /// N vectors of `bytes` bytes for each tap.
  template <int bytes, int N>
  static void weightBlock(const DepthwiseArguments &g, const T *source,
                          T *weight, const T *target) {
    typedef T Vector __attribute__((vector_size(bytes), aligned(alignof(T))));
    for (int64_t l = 0; l < g.lines; ++l)
      for (int64_t t = 0; t < g.taps; ++t) {
        const T *s = source + l * g.sourceLine + t * g.sourceTap, *y = target;
        Vector sum[N] = {};
        for (int64_t p = 0; p < g.pixels;
             ++p, s += g.sourcePixel, y += g.targetPixel)
#pragma clang loop unroll(full)
          for (int i = 0; i < N; ++i)
            sum[i] += ((const Vector *)s)[i] * ((const Vector *)y)[i];
        Vector *w = (Vector *)(weight + l * g.weightLine + t * g.weightTap);
#pragma clang loop unroll(full)
        for (int i = 0; i < N; ++i)
          w[i] += sum[i];
      }
  }

  static void sum(const DepthwiseArguments &g) {
    const T *source = (const T *)g.source, *weight = (const T *)g.weight;
    T *target = (T *)g.target;
    for (int64_t p = 0; p < g.pixels; ++p) {
      int64_t c = 0;
      for (; c + 4 * lanes <= g.channels; c += 4 * lanes)
        sumBlock<vectorBytes, 4>(g, source + c, weight + c, target + c);
      for (; c + lanes <= g.channels; c += lanes)
        sumBlock<vectorBytes, 1>(g, source + c, weight + c, target + c);
      for (; c < g.channels; ++c)
        sumBlock<sizeof(T), 1>(g, source + c, weight + c, target + c);
      source += g.sourcePixel;
      target += g.targetPixel;
    }
  }

  static void weightGrad(const DepthwiseArguments &g) {
    const T *source = (const T *)g.source, *target = (const T *)g.target;
    T *weight = (T *)g.weight;
    int64_t c = 0;
    for (; c + 4 * lanes <= g.channels; c += 4 * lanes)
      weightBlock<vectorBytes, 4>(g, source + c, weight + c, target + c);
    for (; c + lanes <= g.channels; c += lanes)
      weightBlock<vectorBytes, 1>(g, source + c, weight + c, target + c);
    for (; c < g.channels; ++c)
      weightBlock<sizeof(T), 1>(g, source + c, weight + c, target + c);
  }
};

} // namespace
} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_DEPTHWISE_H
