//===- Windows.h - which pixels a window covers -----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_WINDOWS_H
#define DTC_LIB_RUNTIME_WINDOWS_H

#include <algorithm>
#include <cstdint>

namespace dtc::rt {

/// Windows along one axis of an image: tap `t` of the window at position `q` is
/// pixel q * stride + first + t * step, which may lie outside of the image.
struct WindowAxis {
  int64_t positions;
  int64_t extent; ///< of the image, in pixels
  int64_t taps;   ///< of each window
  int64_t stride, first, step;

  int64_t pixel(int64_t q, int64_t t) const {
    return q * stride + first + t * step;
  }

  struct Taps {
    int64_t begin, end;
  };
  /// Those of the window at `q` that are inside of the image.
  Taps inside(int64_t q) const {
    int64_t from = q * stride + first, to = from + (taps - 1) * step;
    if (from >= 0 && to < extent)
      return {0, taps};
    int64_t begin = from < 0 ? std::min((step - 1 - from) / step, taps) : 0;
    int64_t end = from < extent ? (extent - from + step - 1) / step : 0;
    return {begin, std::clamp(end, begin, taps)};
  }
};

/// The windows of dtcrt_conv2d and dtcrt_pool2d.
struct Windows {
  int64_t n, h, w, c, oh, ow, kh, kw;
  int64_t strideH, strideW, padTop, padLeft, dilationH, dilationW;

  WindowAxis vertical() const {
    return {oh, h, kh, strideH, -padTop, dilationH};
  }
  WindowAxis horizontal() const {
    return {ow, w, kw, strideW, -padLeft, dilationW};
  }
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_WINDOWS_H
