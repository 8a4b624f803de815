//===- Windows.h - pixels of a window ---------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_WINDOWS_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_WINDOWS_H

#include "Core/Elements.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

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
    bool operator==(const Taps &) const = default;
  };
  /// Those of the window at `q` that are inside of the image.
  Taps inside(int64_t q) const {
    int64_t from = q * stride + first, to = from + (taps - 1) * step;
    if (from >= 0 && to < extent)
      return {0, taps};
    int64_t begin = from < 0 ? std::min(ceilDiv(-from, step), taps) : 0;
    int64_t end = from < extent ? ceilDiv(extent - from, step) : 0;
    return {begin, std::clamp(end, begin, taps)};
  }
};

/// Along one axis, target pixels that are sums over windows of a source. All
/// windows have the same taps of the convolution.
struct WindowResidue {
  WindowAxis axis;
  int64_t firstTarget, targetStep; ///< pixel of position 0, and step
  int64_t firstTap, tapStep;       ///< convolution tap of tap 0, step

  int64_t target(int64_t q) const { return firstTarget + q * targetStep; }
  int64_t tap(int64_t t) const { return firstTap + t * tapStep; }

  /// y from x.
  static WindowResidue ofForward(const WindowAxis &axis) {
    return {axis, 0, 1, 0, 1};
  }

  /// The gradient of x from that of y, for pixels residue, residue + stride,
  /// ... of x, residue < stride. Others have other taps; those with none are in
  /// no window.
  static WindowResidue ofGradient(const WindowAxis &forward, int64_t residue) {
    // Pixel residue + q * stride is tap t of the window at position
    // q + (residue - first - t * step) / stride, where that is whole: at
    // ascending positions the taps descend.
    int64_t base = residue - forward.first, lastTap = forward.taps - 1;
    while (lastTap >= 0 && (base - lastTap * forward.step) % forward.stride)
      --lastTap;
    int64_t tapStep = forward.stride / std::gcd(forward.stride, forward.step);
    WindowAxis axis;
    axis.positions = ceilDiv(forward.extent - residue, forward.stride);
    axis.extent = forward.positions;
    axis.taps = lastTap < 0 ? 0 : lastTap / tapStep + 1;
    axis.stride = 1;
    axis.first = (base - lastTap * forward.step) / forward.stride;
    axis.step = tapStep * forward.step / forward.stride;
    return {axis, residue, forward.stride, lastTap, -tapStep};
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

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_WINDOWS_H
