//===- Depthwise.cpp - convolutions of each channel by itself -------------===//
//
// Channels are side by side in x and y and far apart in weight, so the weights
// of a channel block are transposed into scratch, tap by tap. A row of pixels
// is cut where its windows begin or end to be whole; the kernels then know
// nothing of borders.
//
//===----------------------------------------------------------------------===//

#include "Depthwise.h"

#include "Core/Elements.h"
#include "Device/CPU/Gemm/Gemm.h"

#include <cstring>

using namespace dtc::rt;

namespace {

/// Sums of gradients of weights are of at least so many pixels, if there are
/// more than one, and at most so many.
constexpr int64_t partPixels = 64, mostParts = 16;
/// A multiplication here takes about as long as so many of a product.
constexpr int64_t tapWork = 4;

template <typename T> class Depthwise {
public:
  Depthwise(const Threads &threads, const ConvolutionShape &shape, T *x,
            T *weight, T *y, T *scratch)
      : threads(threads), shape(shape), windows(shape.windows),
        kernels(sizeof(T) == 4 ? hostGemmKernels().front()->depthwiseF32
                               : hostGemmKernels().front()->depthwiseF64),
        taps(windows.kh * windows.kw), x(x), weight(weight), y(y),
        turned(scratch) {}

  void run() {
    int64_t most = scratchElements() / taps;
    for (first = 0; first < windows.c; first += most) {
      channels = std::min(most, windows.c - first);
      WindowAxis vertical = windows.vertical();
      WindowAxis horizontal = windows.horizontal();
      WindowResidue down = WindowResidue::ofForward(vertical);
      WindowResidue across = WindowResidue::ofForward(horizontal);
      switch (shape.role) {
      case DTC_CONV_FORWARD:
        turnWeights();
        sum(down, across, x, y, windows.oh, windows.ow);
        break;
      case DTC_CONV_INPUT_GRAD:
        turnWeights();
        for (int64_t i = 0; i < vertical.stride; ++i)
          for (int64_t j = 0; j < horizontal.stride; ++j)
            sum(WindowResidue::ofGradient(vertical, i),
                WindowResidue::ofGradient(horizontal, j), y, x, windows.h,
                windows.w);
        break;
      case DTC_CONV_WEIGHT_GRAD:
        weightGrad(down, across);
        break;
      }
    }
  }

private:
  static int64_t scratchElements() {
    return DTC_CONV_SCRATCH_BYTES / int64_t(sizeof(T));
  }

  void turnWeights() {
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t channel = 0; channel < channels; ++channel)
        turned[tap * channels + channel] =
            weight[(first + channel) * taps + tap];
  }

  /// Target pixels from windows of the source.
  void sum(const WindowResidue &down, const WindowResidue &across, T *source,
           T *target, int64_t height, int64_t width) {
    int64_t rows = windows.n * down.axis.positions;
    int64_t rowWork = across.axis.positions * taps * channels * tapWork;
    threads.divide(rows, rows * rowWork, [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row)
        forEachRun(down, across, row, source, target, height, width,
                   [&](DepthwiseArguments &run) {
                     run.accumulate = shape.accumulate;
                     kernels.sum(run);
                   });
    });
  }

  /// Rows are cut into parts with sums of their own. The cut follows from the
  /// shape, so that bits do not depend on threads.
  void weightGrad(const WindowResidue &down, const WindowResidue &across) {
    int64_t rows = windows.n * windows.oh, count = taps * channels;
    int64_t parts = std::clamp<int64_t>(
        rows * windows.ow / partPixels, 1,
        std::min({mostParts, rows, scratchElements() / count}));
    threads.divide(
        parts, rows * windows.ow * count * tapWork,
        [&](int64_t from, int64_t to) {
          memset(turned + from * count, 0, (to - from) * count * sizeof(T));
          for (int64_t part = from; part < to; ++part)
            for (int64_t row = rows * part / parts;
                 row < rows * (part + 1) / parts; ++row)
              forEachRun(down, across, row, x, y, windows.oh, windows.ow,
                         [&](DepthwiseArguments &run) {
                           run.weight = (T *)run.weight + part * count;
                           kernels.weightGrad(run);
                         });
        });
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t i = 0; i < count; ++i)
        turned[i] += turned[part * count + i];
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t tap = 0; tap < taps; ++tap) {
        T &result = weight[(first + channel) * taps + tap];
        T gradient = turned[tap * channels + channel];
        result = shape.accumulate ? result + gradient : gradient;
      }
  }

  /// Calls body(run) for pixels of a row whose windows have the same taps
  /// inside. Rows are those of all images.
  template <typename Body>
  void forEachRun(const WindowResidue &down, const WindowResidue &across,
                  int64_t row, T *source, T *target, int64_t height,
                  int64_t width, const Body &body) {
    int64_t image = row / down.axis.positions, q = row % down.axis.positions;
    WindowAxis::Taps lines = down.axis.inside(q);
    const WindowAxis &axis = across.axis;
    for (int64_t p = 0, end; p < axis.positions; p = end) {
      WindowAxis::Taps tapsInside = axis.inside(p);
      for (end = p + 1; end < axis.positions; ++end)
        if (axis.inside(end) != tapsInside)
          break;
      int64_t firstLine =
          image * down.axis.extent + down.axis.pixel(q, lines.begin);
      int64_t firstSource =
          firstLine * axis.extent + axis.pixel(p, tapsInside.begin);
      int64_t firstWeight =
          down.tap(lines.begin) * windows.kw + across.tap(tapsInside.begin);
      int64_t firstTarget =
          (image * height + down.target(q)) * width + across.target(p);
      DepthwiseArguments run;
      run.pixels = end - p;
      run.lines = lines.end - lines.begin;
      run.taps = tapsInside.end - tapsInside.begin;
      run.channels = channels;
      run.source = source + firstSource * windows.c + first;
      run.sourcePixel = axis.stride * windows.c;
      run.sourceLine = down.axis.step * axis.extent * windows.c;
      run.sourceTap = axis.step * windows.c;
      run.weight = turned + firstWeight * channels;
      run.weightLine = down.tapStep * windows.kw * channels;
      run.weightTap = across.tapStep * channels;
      run.target = target + firstTarget * windows.c + first;
      run.targetPixel = across.targetStep * windows.c;
      body(run);
    }
  }

  const Threads &threads;
  const ConvolutionShape &shape;
  const Windows &windows;
  const DepthwiseKernels &kernels;
  int64_t taps;
  T *x, *weight, *y;
  T *turned;               ///< parts x taps x channels
  int64_t first, channels; ///< those at work
};

} // namespace

bool dtc::rt::isDepthwise(const ConvolutionShape &shape) {
  const Windows &windows = shape.windows;
  return shape.groups == windows.c && shape.filters == windows.c &&
         windows.kh * windows.kw * sizeOf(shape.dtype) <=
             DTC_CONV_SCRATCH_BYTES;
}

void dtc::rt::convolveDepthwise(const Threads &threads,
                                const ConvolutionShape &shape, void *x,
                                void *weight, void *y, void *scratch) {
  auto run = [&](auto *typed) {
    using T = std::remove_pointer_t<decltype(typed)>;
    Depthwise<T>(threads, shape, typed, static_cast<T *>(weight),
                 static_cast<T *>(y), static_cast<T *>(scratch))
        .run();
  };
  if (shape.dtype == DTC_F32)
    run(static_cast<float *>(x));
  else
    run(static_cast<double *>(x));
}
