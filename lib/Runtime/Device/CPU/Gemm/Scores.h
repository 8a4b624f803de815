//===- Scores.h - rows of an attention's scores, for one width --*- C++ -*-===//
//
// Included like Kernel.h by one file per instruction set, with internal linkage
// for the same reason.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_SCORES_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_SCORES_H

#include "Gemm.h"

namespace dtc::rt {
namespace {

template <typename T, int vectorBytes> struct Scores {
  static constexpr int lanes = vectorBytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(vectorBytes)));
  typedef T Unaligned
      __attribute__((vector_size(vectorBytes), aligned(alignof(T))));

  /// e^x for x <= 0, below 2^-126 zero: 2^n e^r with |r| <= ln(2) / 2, by the
  /// polynomial of Cephes' expf, to 2 units in the last place.
  static Vector exponential(Vector x) {
    if constexpr (sizeof(T) == 8) {
      for (int i = 0; i < lanes; ++i)
        x[i] = __builtin_exp(x[i]);
      return x;
    } else {
      typedef int Integers __attribute__((vector_size(vectorBytes)));
      constexpr float low = -87.0f, magic = 12582912.0f; // 1.5 * 2^23
      Vector inside = x < low ? low + Vector{} : x;
      Vector shifted = inside * 1.44269504f + magic, n = shifted - magic;
      Vector r = inside - n * 0.693359375f + n * 2.12194440e-4f;
      Vector p = 1.9875691500e-4f + Vector{};
      constexpr float coefficients[] = {1.3981999507e-3f, 8.3334519073e-3f,
                                        4.1665795894e-2f, 1.6666665459e-1f,
                                        5.0000001201e-1f};
#pragma clang loop unroll(full)
      for (float c : coefficients)
        p = p * r + c;
      p = p * r * r + r + 1.0f;
      auto power = (Vector)(((Integers)shifted << 23) + (127 << 23));
      return x < low ? Vector{} : p * power;
    }
  }

  /// Scales and masks a row. Returns how many whole vectors' elements have what
  /// it sees; the rest of these is -inf.
  static int64_t prepare(const ScoreArguments &g, int64_t i, T *row) {
    int64_t seen = g.causal < 0 ? g.columns : i + g.causal;
    seen = seen < g.columns ? seen : g.columns;
    int64_t count = (seen + lanes - 1) / lanes * lanes;
    T scale = T(g.scale);
    if (const T *mask = (const T *)g.mask) {
      mask += i * g.maskStride;
      for (int64_t j = 0; j < seen; ++j)
        row[j] = row[j] * scale + mask[j];
    } else {
      for (int64_t j = 0; j < seen; ++j)
        row[j] *= scale;
    }
    for (int64_t j = seen; j < count; ++j)
      row[j] = -T(__builtin_inf());
    return count;
  }

  static T largest(const T *row, int64_t count) {
    Vector most = *(const Unaligned *)row;
    for (int64_t j = lanes; j < count; j += lanes) {
      Vector x = *(const Unaligned *)(row + j);
      most = x > most ? x : most;
    }
    T result = most[0];
    for (int i = 1; i < lanes; ++i)
      result = most[i] > result ? most[i] : result;
    return result;
  }

  static void exponentials(const ScoreArguments &g, void *scores, void *shifts,
                           void *sums) {
    for (int64_t i = 0; i < g.rows; ++i) {
      T *row = (T *)scores + i * g.stride, &shift = ((T *)shifts)[i];
      int64_t count = prepare(g, i, row);
      if (sums)
        shift = largest(row, count);
      // A row that sees nothing: -inf minus itself is no number.
      T from = shift == -T(__builtin_inf()) ? T(0) : shift;
      Vector sum = {};
      for (int64_t j = 0; j < count; j += lanes) {
        auto *x = (Unaligned *)(row + j);
        *x = exponential(*x - from);
        sum += *x;
      }
      for (int64_t j = count; j < g.stride; ++j)
        row[j] = 0;
      if (!sums)
        continue;
      T total = 0;
      for (int l = 0; l < lanes; ++l)
        total += sum[l];
      ((T *)sums)[i] = total;
    }
  }

  static void gradients(const ScoreArguments &g, const void *scores,
                        void *gradients, const void *deltas) {
    for (int64_t i = 0; i < g.rows; ++i) {
      const T *p = (const T *)scores + i * g.stride;
      T *d = (T *)gradients + i * g.stride;
      T delta = ((const T *)deltas)[i], scale = T(g.scale);
      for (int64_t j = 0; j < g.columns; ++j)
        d[j] = scale * p[j] * (d[j] - delta);
    }
  }
};

/// To bf16, rounded to nearest even; a NaN stays one.
static void roundToBf16(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    auto wide = __builtin_bit_cast(uint32_t, from[i]);
    uint32_t rounded = (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
    to[i] = uint16_t(__builtin_isnan(from[i]) ? wide >> 16 | 0x40 : rounded);
  }
}

} // namespace
} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_SCORES_H
