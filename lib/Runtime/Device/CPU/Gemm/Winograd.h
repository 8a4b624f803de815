//===- Winograd.h - transforms of tiles, for one vector width ---*- C++ -*-===//
//
// Included like Kernel.h by one file per instruction set, with internal linkage
// for the same reason.
//
// Winograd's F(4 x 4, 3 x 3) (Lavin and Gray, arXiv 1509.09308), with the
// points 0, a, -a, b, -b and infinity:
//
//   y  = A^T [G w G^T * B^T x B] A       4 x 4 pixels of 6 x 6 pixels
//   dw = G^T [A dy A^T * B^T x B] G      its gradient: transposed
//
// a = 5/8 and b = 3/2 round less than half as much as the textbook's 1 and 2,
// and their powers are floats.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_WINOGRAD_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_WINOGRAD_H

#include "Kernel.h"

namespace dtc::rt {
namespace {

template <int vectorBytes, int MR> struct Winograd {
  using Product = Gemm<float, vectorBytes, MR>;
  static constexpr int lanes = vectorBytes / sizeof(float);

  static constexpr float a = 0.625f, b = 1.5f;
  static constexpr float a2 = a * a, b2 = b * b, a3 = a2 * a, b3 = b2 * b;
  /// Divisors of the rows of G, for the points 0, a and b.
  static constexpr float n0 = a2 * b2, na = 2 * a2 * (a2 - b2),
                         nb = 2 * b2 * (b2 - a2);

  template <typename V> struct Image { // B^T
    static constexpr int from = 6, to = 6;
    static void apply(const V *d, V *t) {
      V even = d[4] - b2 * d[2], odd = a * (d[3] - b2 * d[1]);
      V even2 = d[4] - a2 * d[2], odd2 = b * (d[3] - a2 * d[1]);
      t[0] = a2 * b2 * d[0] - (a2 + b2) * d[2] + d[4];
      t[1] = even + odd;
      t[2] = even - odd;
      t[3] = even2 + odd2;
      t[4] = even2 - odd2;
      t[5] = a2 * b2 * d[1] - (a2 + b2) * d[3] + d[5];
    }
  };
  template <typename V> struct Result { // A^T
    static constexpr int from = 6, to = 4;
    static void apply(const V *m, V *y) {
      V sum = m[1] + m[2], difference = m[1] - m[2];
      V sum2 = m[3] + m[4], difference2 = m[3] - m[4];
      y[0] = m[0] + sum + sum2;
      y[1] = a * difference + b * difference2;
      y[2] = a2 * sum + b2 * sum2;
      y[3] = a3 * difference + b3 * difference2 + m[5];
    }
  };
  template <typename V> struct ResultGrad { // A
    static constexpr int from = 4, to = 6;
    static void apply(const V *y, V *t) {
      V even = y[0] + a2 * y[2], odd = a * y[1] + a3 * y[3];
      V even2 = y[0] + b2 * y[2], odd2 = b * y[1] + b3 * y[3];
      t[0] = y[0];
      t[1] = even + odd;
      t[2] = even - odd;
      t[3] = even2 + odd2;
      t[4] = even2 - odd2;
      t[5] = y[3];
    }
  };
  template <typename V> struct Weights { // G
    static constexpr int from = 3, to = 6;
    static void apply(const V *w, V *u) {
      V even = w[0] * (1 / na) + w[2] * (a2 / na), odd = w[1] * (a / na);
      V even2 = w[0] * (1 / nb) + w[2] * (b2 / nb), odd2 = w[1] * (b / nb);
      u[0] = w[0] * (1 / n0);
      u[1] = even + odd;
      u[2] = even - odd;
      u[3] = even2 + odd2;
      u[4] = even2 - odd2;
      u[5] = w[2];
    }
  };
  template <typename V> struct WeightsGrad { // G^T
    static constexpr int from = 6, to = 3;
    static void apply(const V *s, V *w) {
      V sum = s[1] + s[2], sum2 = s[3] + s[4];
      w[0] = s[0] * (1 / n0) + sum * (1 / na) + sum2 * (1 / nb);
      w[1] = (s[1] - s[2]) * (a / na) + (s[3] - s[4]) * (b / nb);
      w[2] = sum * (a2 / na) + sum2 * (b2 / nb) + s[5];
    }
  };

  /// T d T^T of squares whose elements are `from` apart, in lines and columns,
  /// to where they are `to` apart.
  template <template <typename> typename T, typename V>
  static void square(const float *from, int64_t fromLine, int64_t fromPixel,
                     float *to, int64_t toLine, int64_t toPixel,
                     bool accumulate) {
    typedef V Unaligned __attribute__((aligned(alignof(float))));
    constexpr int n = T<V>::from, m = T<V>::to;
    V lines[m][n]; // the transform of each column
#pragma clang loop unroll(full)
    for (int j = 0; j < n; ++j) {
      V column[n], t[m];
#pragma clang loop unroll(full)
      for (int i = 0; i < n; ++i)
        column[i] = *(const Unaligned *)(from + i * fromLine + j * fromPixel);
      T<V>::apply(column, t);
#pragma clang loop unroll(full)
      for (int i = 0; i < m; ++i)
        lines[i][j] = t[i];
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < m; ++i) {
      V t[m];
      T<V>::apply(lines[i], t);
#pragma clang loop unroll(full)
      for (int j = 0; j < m; ++j) {
        Unaligned *element = (Unaligned *)(to + i * toLine + j * toPixel);
        *element = accumulate ? *element + t[j] : t[j];
      }
    }
  }

  /// The same of `channels` neighbouring squares.
  template <template <typename> typename T>
  static void squares(int64_t channels, const WinogradSquare &from,
                      const WinogradSquare &to, bool accumulate) {
    typedef float Wide __attribute__((vector_size(vectorBytes)));
    typedef float One __attribute__((vector_size(sizeof(float))));
    int64_t c = 0;
    for (; c + lanes <= channels; c += lanes)
      square<T, Wide>(from.data + c, from.line, from.pixel, to.data + c,
                      to.line, to.pixel, accumulate);
    for (; c < channels; ++c)
      square<T, One>(from.data + c, from.line, from.pixel, to.data + c, to.line,
                     to.pixel, accumulate);
  }

  static void image(int64_t channels, const WinogradSquare &from,
                    const WinogradSquare &to) {
    squares<Image>(channels, from, to, false);
  }
  static void resultGrad(int64_t channels, const WinogradSquare &from,
                         const WinogradSquare &to) {
    squares<ResultGrad>(channels, from, to, false);
  }
  static void result(int64_t channels, const WinogradSquare &from,
                     const WinogradSquare &to, bool accumulate) {
    squares<Result>(channels, from, to, accumulate);
  }
  static void weightGrad(int64_t channels, const WinogradSquare &from,
                         const WinogradSquare &to, bool accumulate) {
    squares<WeightsGrad>(channels, from, to, accumulate);
  }

  static void weights(const WinogradWeights &w, float *scratch, float *panel,
                      int64_t step) {
    constexpr int NR = Product::NR;
    for (int tap = 0; tap < 9; ++tap)
      Product::template packPanel<NR>(
          w.data + (w.isTurned ? 8 - tap : tap) * w.tap, w.across, w.along,
          w.width, w.depth, scratch + tap * w.depth * NR);
    WinogradSquare from = {scratch, 3 * w.depth * NR, w.depth * NR};
    WinogradSquare to = {panel, 6 * step, step};
    squares<Weights>(w.depth * NR, from, to, false);
  }
};

} // namespace
} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_WINOGRAD_H
