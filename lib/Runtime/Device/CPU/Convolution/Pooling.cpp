//===- Pooling.cpp - 2-D poolings of a rank -------------------------------===//
//
// Windows overlap, so two of them may add to one pixel. Therefore threads
// divide images and channels.
//
//===----------------------------------------------------------------------===//

#include "Pooling.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace dtc::rt;

namespace {

/// The number of channels that are compared together.
constexpr int64_t mostChannels = 128;
/// A comparison or addition here takes about as long as so many multiplications
/// of a product.
constexpr int64_t elementWork = 16;

/// Some channels of one image.
template <typename T> class Pooling {
public:
  Pooling(const Windows &windows, int64_t image, int64_t firstChannel)
      : windows(windows), vertical(windows.vertical()),
        horizontal(windows.horizontal()),
        xOffset(image * windows.h * windows.w * windows.c + firstChannel),
        yOffset(image * windows.oh * windows.ow * windows.c + firstChannel),
        channels(std::min(mostChannels, windows.c - firstChannel)) {}

  // The first of equal values is kept, and what all are compared with first
  // replaces none: a window of nothing but -infinity has the first as maximum.

  void max(const T *x, T *y) const {
    forEachWindow(y, [&](const Window &window, T *__restrict out) {
      std::fill_n(out, channels, -std::numeric_limits<T>::infinity());
      forEachPixel(window, [&](int64_t pixel) {
        const T *in = x + pixel;
        for (int64_t i = 0; i < channels; ++i)
          out[i] = isLarger(in[i], out[i]) ? in[i] : out[i];
      });
    });
  }

  void maxGrad(const T *x, const T *dy, T *dx) const {
    clear(dx);
    forEachWindow(dy, [&](const Window &window, const T *gradient) {
      // As wide as values, so that both are selected by one mask.
      using Tap = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
      T best[mostChannels];
      Tap bits[mostChannels];
      memcpy(bits, gradient, channels * sizeof(T));
      Tap tap = 0, bestTap[mostChannels] = {};
      std::fill_n(best, channels, -std::numeric_limits<T>::infinity());
      forEachPixel(window, [&](int64_t pixel) {
        const T *in = x + pixel;
        for (int64_t i = 0; i < channels; ++i) {
          bool isBest = isLarger(in[i], best[i]);
          best[i] = isBest ? in[i] : best[i];
          bestTap[i] = isBest ? tap : bestTap[i];
        }
        ++tap;
      });
      tap = 0;
      forEachPixel(window, [&](int64_t pixel) {
        T *__restrict out = dx + pixel;
        for (int64_t i = 0; i < channels; ++i) // no branch, so vectors
          out[i] += std::bit_cast<T>(bits[i] & -Tap(bestTap[i] == tap));
        ++tap;
      });
    });
  }

  void sum(const T *x, T *y) const {
    forEachWindow(y, [&](const Window &window, T *__restrict out) {
      memset(out, 0, channels * sizeof(T));
      forEachPixel(window, [&](int64_t pixel) {
        const T *in = x + pixel;
        for (int64_t i = 0; i < channels; ++i)
          out[i] += in[i];
      });
    });
  }

  void sumGrad(const T *dy, T *dx) const {
    clear(dx);
    forEachWindow(dy, [&](const Window &window, const T *gradient) {
      forEachPixel(window, [&](int64_t pixel) {
        T *__restrict out = dx + pixel;
        for (int64_t i = 0; i < channels; ++i)
          out[i] += gradient[i];
      });
    });
  }

private:
  /// The taps that are inside, from the pixel at (oy, ox).
  struct Window {
    int64_t oy, ox;
    WindowAxis::Taps down, across;
  };

  /// A NaN is larger than all, an earlier one too.
  static bool isLarger(T value, T best) {
    // NOLINTNEXTLINE(misc-redundant-expression): but for NaN
    return (value > best) | (value != value);
  }

  void clear(T *dx) const {
    for (int64_t pixel = 0; pixel < windows.h * windows.w; ++pixel)
      memset(dx + xOffset + pixel * windows.c, 0, channels * sizeof(T));
  }

  template <typename Y, typename Body>
  void forEachWindow(Y *y, const Body &body) const {
    y += yOffset;
    for (int64_t oy = 0; oy < windows.oh; ++oy)
      for (int64_t ox = 0; ox < windows.ow; ++ox, y += windows.c)
        body({oy, ox, vertical.inside(oy), horizontal.inside(ox)}, y);
  }

  /// Calls body(where it is) for the pixels of x under a window, row by row.
  template <typename Body>
  void forEachPixel(const Window &window, const Body &body) const {
    for (int64_t i = window.down.begin; i < window.down.end; ++i)
      for (int64_t j = window.across.begin; j < window.across.end; ++j)
        body(xOffset + (vertical.pixel(window.oy, i) * windows.w +
                        horizontal.pixel(window.ox, j)) *
                           windows.c);
  }

  const Windows &windows;
  WindowAxis vertical, horizontal;
  int64_t xOffset, yOffset, channels;
};

} // namespace

template <typename T>
static void poolAll(const Threads &threads, dtc_pool_role role,
                    const Windows &windows, const T *x, T *y, T *dx) {
  int64_t parts = (windows.c + mostChannels - 1) / mostChannels;
  int64_t work = windows.n * windows.oh * windows.ow * windows.c * windows.kh *
                 windows.kw * elementWork;
  threads.divide(windows.n * parts, work, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      Pooling<T> pooling(windows, i / parts, i % parts * mostChannels);
      switch (role) {
      case DTC_POOL_MAX:
        pooling.max(x, y);
        break;
      case DTC_POOL_MAX_GRAD:
        pooling.maxGrad(x, y, dx);
        break;
      case DTC_POOL_SUM:
        pooling.sum(x, y);
        break;
      case DTC_POOL_SUM_GRAD:
        pooling.sumGrad(y, dx);
        break;
      }
    }
  });
}

void dtc::rt::pool(const Threads &threads, dtc_dtype dtype, dtc_pool_role role,
                   const Windows &windows, const void *x, void *y, void *dx) {
  if (dtype == DTC_F32)
    poolAll(threads, role, windows, static_cast<const float *>(x),
            static_cast<float *>(y), static_cast<float *>(dx));
  else
    poolAll(threads, role, windows, static_cast<const double *>(x),
            static_cast<double *>(y), static_cast<double *>(dx));
}
