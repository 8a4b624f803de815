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
  /// Vectors that 4 pixels have in registers, of 32 or 16.
  static constexpr int mostVectors = vectorBytes == 64 ? 4 : 2;

  /// N vectors of `bytes` bytes of P pixels: their sums stay in registers, and
  /// weights are loaded once for all pixels.
  template <int bytes, int P, int N>
  static void sumBlock(const DepthwiseArguments &g, const T *source,
                       const T *weight, T *target) {
    typedef T Vector __attribute__((vector_size(bytes), aligned(alignof(T))));
    Vector sum[P][N] = {};
    for (int64_t l = 0; l < g.lines; ++l) {
      const T *s = source + l * g.sourceLine, *w = weight + l * g.weightLine;
      for (int64_t t = 0; t < g.taps; ++t, s += g.sourceTap, w += g.weightTap)
#pragma clang loop unroll(full)
        for (int i = 0; i < P; ++i)
#pragma clang loop unroll(full)
          for (int j = 0; j < N; ++j)
            sum[i][j] += ((const Vector *)(s + i * g.sourcePixel))[j] *
                         ((const Vector *)w)[j];
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < P; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < N; ++j) {
        Vector *element = (Vector *)(target + i * g.targetPixel) + j;
        *element = g.accumulate ? *element + sum[i][j] : sum[i][j];
      }
  }

  /// All channels of as many times P pixels as there are after `pixel`. Returns
  /// the first that is left.
  template <int P>
  static int64_t sumPixels(const DepthwiseArguments &g, int64_t pixel) {
    for (; pixel + P <= g.pixels; pixel += P) {
      const T *source = (const T *)g.source + pixel * g.sourcePixel;
      const T *weight = (const T *)g.weight;
      T *target = (T *)g.target + pixel * g.targetPixel;
      int64_t c = 0;
      for (; c + mostVectors * lanes <= g.channels; c += mostVectors * lanes)
        sumBlock<vectorBytes, P, mostVectors>(g, source + c, weight + c,
                                              target + c);
      for (; c + 2 * lanes <= g.channels; c += 2 * lanes)
        sumBlock<vectorBytes, P, 2>(g, source + c, weight + c, target + c);
      for (; c + lanes <= g.channels; c += lanes)
        sumBlock<vectorBytes, P, 1>(g, source + c, weight + c, target + c);
      for (; c < g.channels; ++c)
        sumBlock<sizeof(T), P, 1>(g, source + c, weight + c, target + c);
    }
    return pixel;
  }

  static void sum(const DepthwiseArguments &g) {
    int64_t pixel = sumPixels<4>(g, 0);
    pixel = sumPixels<2>(g, pixel);
    sumPixels<1>(g, pixel);
  }

  /// A vector of `bytes` bytes of T taps side by side, for which a pixel of the
  /// target is loaded once.
  template <int bytes, int taps>
  static void weightBlock(const DepthwiseArguments &g, const T *source,
                          T *weight, const T *target) {
    typedef T Vector __attribute__((vector_size(bytes), aligned(alignof(T))));
    Vector even[taps] = {}, odd[taps] = {}; // two sums, to add to in turn
    auto add = [&](Vector *sums, int64_t p) {
      Vector y = *(const Vector *)(target + p * g.targetPixel);
      const T *s = source + p * g.sourcePixel;
#pragma clang loop unroll(full)
      for (int t = 0; t < taps; ++t)
        sums[t] += *(const Vector *)(s + t * g.sourceTap) * y;
    };
    int64_t p = 0;
    for (; p + 2 <= g.pixels; p += 2) {
      add(even, p);
      add(odd, p + 1);
    }
    if (p < g.pixels)
      add(even, p);
#pragma clang loop unroll(full)
    for (int t = 0; t < taps; ++t)
      *(Vector *)(weight + t * g.weightTap) += even[t] + odd[t];
  }

  template <int taps>
  static void weightTaps(const DepthwiseArguments &g, const T *source,
                         T *weight, const T *target) {
    int64_t c = 0;
    for (; c + lanes <= g.channels; c += lanes)
      weightBlock<vectorBytes, taps>(g, source + c, weight + c, target + c);
    for (; c < g.channels; ++c)
      weightBlock<sizeof(T), taps>(g, source + c, weight + c, target + c);
  }

  static void weightGrad(const DepthwiseArguments &g) {
    for (int64_t l = 0; l < g.lines; ++l) {
      const T *source = (const T *)g.source + l * g.sourceLine;
      const T *target = (const T *)g.target;
      T *weight = (T *)g.weight + l * g.weightLine;
      int64_t t = 0;
      for (; t + 3 <= g.taps; t += 3)
        weightTaps<3>(g, source + t * g.sourceTap, weight + t * g.weightTap,
                      target);
      for (; t < g.taps; ++t)
        weightTaps<1>(g, source + t * g.sourceTap, weight + t * g.weightTap,
                      target);
    }
  }
};

} // namespace
} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_DEPTHWISE_H
