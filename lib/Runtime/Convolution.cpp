//===- Convolution.cpp - 2-D convolutions of a rank -----------------------===//
//
// Convolutions are products of a matrix of patches: a row for each pixel of a
// grid, with what is under the taps of its window side by side. Blocks of that
// matrix are gathered into scratch, small enough for the second-level cache,
// and multiplied from there.
//
//   forward       y   = patches of x  * weight^T
//   weight grad   dw  = dy^T          * patches of x
//   input grad    dx  = patches of dy * weight, tap by tap
//
// The gradient of x is gathered, too, not scattered: a pixel of x was read by
// the windows whose outputs form a window of dy, with taps in opposite order. A
// stride makes these windows differ from pixel to pixel, with the stride as
// period; pixels of one phase of the period have the same taps.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

#include "Depthwise.h"
#include "Elements.h"

#include <cstring>

using namespace dtc::rt;

namespace {

/// How long a row of a gathered block may be, which is the depth or the width
/// of a product, and how wide a result that is gathered too.
constexpr int64_t mostColumns = 512, mostResults = 1024;
/// Below this a product whose depth is the filters of one tap is too flat.
constexpr int64_t fewFilters = 64;
/// A moved element takes about as long as so many multiplications.
constexpr int64_t moveWork = 16;

/// The size of equal parts of at most `most` elements.
int64_t evenPart(int64_t size, int64_t most) {
  return ceilDiv(size, ceilDiv(size, most));
}

/// Pixels of a grid, in order.
struct Grid {
  int64_t height, width;

  template <typename Body>
  void forEach(int64_t first, int64_t end, const Body &body) const {
    int64_t x = first % width, y = first / width % height;
    int64_t image = first / (width * height);
    for (int64_t row = first; row < end; ++row) {
      body(image, y, x);
      if (++x < width)
        continue;
      x = 0;
      if (++y < height)
        continue;
      y = 0;
      ++image;
    }
  }
};

/// Columns of the matrix of patches: of some taps some channels.
struct Columns {
  int64_t firstTap, taps, firstChannel, channels;
};

struct Patches {
  WindowAxis vertical, horizontal;
  int64_t images;
  const char *source;
  int64_t pixelBytes, elementBytes;

  int64_t rows() const {
    return images * vertical.positions * horizontal.positions;
  }
  int64_t taps() const { return vertical.taps * horizontal.taps; }

  /// Whether pixels of the source are the rows, as they are.
  bool isSource() const {
    auto isIdentity = [](const WindowAxis &axis) {
      return axis.taps == 1 && axis.stride == 1 && axis.first == 0 &&
             axis.positions == axis.extent;
    };
    return isIdentity(vertical) && isIdentity(horizontal);
  }

  void gather(int64_t firstRow, int64_t endRow, const Columns &columns,
              char *target) const {
    int64_t bytes = columns.channels * elementBytes;
    const char *from = source + columns.firstChannel * elementBytes;
    // Taps side by side are one run of memory, if they are whole pixels.
    bool areRuns = horizontal.step == 1 && bytes == pixelBytes;
    int64_t firstLine = columns.firstTap / horizontal.taps;
    int64_t firstInLine = columns.firstTap % horizontal.taps;
    Grid{vertical.positions, horizontal.positions}.forEach(
        firstRow, endRow, [&](int64_t image, int64_t y, int64_t x) {
          WindowAxis::Taps across = horizontal.inside(x);
          int64_t taps = columns.taps, line = vertical.pixel(y, firstLine);
          for (int64_t j = firstInLine; taps > 0;
               j = 0, line += vertical.step) {
            int64_t end = std::min(horizontal.taps, j + taps);
            taps -= end - j;
            bool isInside = line >= 0 && line < vertical.extent;
            int64_t begin = isInside ? std::clamp(across.begin, j, end) : end;
            int64_t stop = std::clamp(across.end, begin, end);
            target = clear(target, (begin - j) * bytes);
            const char *pixel =
                from + ((image * vertical.extent + line) * horizontal.extent +
                        horizontal.pixel(x, begin)) *
                           pixelBytes;
            if (areRuns)
              target = copy(target, pixel, (stop - begin) * bytes);
            else
              for (int64_t t = begin; t < stop; ++t) {
                target = copy(target, pixel, bytes);
                pixel += horizontal.step * pixelBytes;
              }
            target = clear(target, (end - stop) * bytes);
          }
        });
  }

private:
  /// What a call of memcpy costs shows in short copies, of whole elements.
  static char *copy(char *target, const char *source, int64_t bytes) {
    if (bytes > 64) {
      memcpy(target, source, bytes);
      return target + bytes;
    }
    for (; bytes >= 16; bytes -= 16, target += 16, source += 16)
      memcpy(target, source, 16);
    for (; bytes > 0; bytes -= 4, target += 4, source += 4)
      memcpy(target, source, 4);
    return target;
  }
  static char *clear(char *target, int64_t bytes) {
    if (bytes > 0)
      memset(target, 0, bytes);
    return target + bytes;
  }
};

/// How a matrix of patches is cut into blocks that are gathered one by one, if
/// it is not there already.
class Blocks {
public:
  struct Matrix {
    const char *data;
    int64_t rowStride;
  };

  /// Of each tap `channels` are used. A block has `elements` in `buffer`, with
  /// room for `extra` ones more per row.
  Blocks(const Threads &threads, const Patches &patches, int64_t channels,
         char *buffer, int64_t elements, int64_t extra = 0)
      : threads(threads), patches(patches), channels(channels), buffer(buffer),
        isGathered(!patches.isSource()) {
    mostChannels = isGathered ? evenPart(channels, mostColumns) : channels;
    mostTaps = evenPart(patches.taps(),
                        std::max<int64_t>(mostColumns / mostChannels, 1));
    int64_t width = extra + (isGathered ? mostChannels * mostTaps : 0);
    int64_t rows = patches.rows();
    mostRows = width ? evenPart(rows, std::min(rows, elements / width)) : rows;
  }

  int64_t rows() const { return mostRows; }
  /// Where the room for what is extra begins.
  char *end() const {
    return buffer + (isGathered ? mostRows * mostChannels * mostTaps *
                                      patches.elementBytes
                                : 0);
  }

  template <typename Body> void forEachRows(const Body &body) const {
    for (int64_t row = 0; row < patches.rows(); row += mostRows)
      body(row, std::min(mostRows, patches.rows() - row));
  }
  template <typename Body> void forEachColumns(const Body &body) const {
    for (int64_t tap = 0; tap < patches.taps(); tap += mostTaps)
      for (int64_t channel = 0; channel < channels; channel += mostChannels)
        body(Columns{tap, std::min(mostTaps, patches.taps() - tap), channel,
                     std::min(mostChannels, channels - channel)});
  }

  Matrix gather(int64_t firstRow, int64_t rows, const Columns &columns) const {
    if (!isGathered)
      return {patches.source + firstRow * patches.pixelBytes,
              patches.pixelBytes / patches.elementBytes};
    int64_t width = columns.taps * columns.channels;
    threads.divide(
        rows, rows * width * moveWork, [&](int64_t from, int64_t to) {
          patches.gather(firstRow + from, firstRow + to, columns,
                         buffer + from * width * patches.elementBytes);
        });
    return {buffer, width};
  }

private:
  const Threads &threads;
  const Patches &patches;
  int64_t channels;
  char *buffer;
  bool isGathered;
  int64_t mostRows, mostTaps, mostChannels;
};

class Convolution {
public:
  Convolution(MatMul &matmul, const ConvolutionShape &shape, void *x,
              void *weight, void *y, void *scratch)
      : matmul(matmul), shape(shape), windows(shape.windows),
        elementBytes(sizeOf(shape.dtype)),
        scratchElements(DTC_CONV_SCRATCH_BYTES / elementBytes),
        channels(windows.c / shape.groups),
        filters(shape.filters / shape.groups), taps(windows.kh * windows.kw),
        x(static_cast<char *>(x)), weight(static_cast<char *>(weight)),
        y(static_cast<char *>(y)), scratch(static_cast<char *>(scratch)) {}

  void run();

private:
  void forward(int64_t group);
  void weightGrad(int64_t group);
  void inputGrad();
  void inputGrad(int64_t group, const WindowPhase &vertical,
                 const WindowPhase &horizontal);
  enum class Direction { fromX, toX };
  void copyPhase(Direction direction, const WindowPhase &vertical,
                 const WindowPhase &horizontal, int64_t firstRow, int64_t rows,
                 char *xFirst, int64_t columns, char *copy);

  /// Elements of an operand, those of a group.
  char *atX(int64_t pixel, int64_t group, int64_t channel = 0) const {
    return x + (pixel * windows.c + group * channels + channel) * elementBytes;
  }
  char *atY(int64_t pixel, int64_t group) const {
    return y + (pixel * shape.filters + group * filters) * elementBytes;
  }
  char *atWeight(int64_t group, int64_t filter, int64_t tap,
                 int64_t channel) const {
    int64_t row = (group * filters + filter) * taps + tap;
    return weight + (row * channels + channel) * elementBytes;
  }

  Patches patchesOfX(int64_t group) const {
    return {windows.vertical(), windows.horizontal(),     windows.n,
            atX(0, group),      windows.c * elementBytes, elementBytes};
  }

  MatMul &matmul;
  const ConvolutionShape &shape;
  const Windows &windows;
  int64_t elementBytes, scratchElements;
  int64_t channels, filters; ///< of a group
  int64_t taps;
  char *x, *weight, *y, *scratch;
};

} // namespace

void Convolution::forward(int64_t group) {
  Patches patches = patchesOfX(group);
  Blocks blocks(matmul.threads(), patches, channels, scratch, scratchElements);
  blocks.forEachRows([&](int64_t row, int64_t rows) {
    bool accumulate = shape.accumulate;
    blocks.forEachColumns([&](const Columns &columns) {
      auto [data, stride] = blocks.gather(row, rows, columns);
      matmul.multiply(
          shape.dtype,
          {rows, filters, columns.taps * columns.channels, data, stride, 1,
           atWeight(group, 0, columns.firstTap, columns.firstChannel), 1,
           taps * channels, atY(row, group), shape.filters, accumulate});
      accumulate = true;
    });
  });
}

void Convolution::weightGrad(int64_t group) {
  Patches patches = patchesOfX(group);
  Blocks blocks(matmul.threads(), patches, channels, scratch, scratchElements);
  blocks.forEachColumns([&](const Columns &columns) {
    blocks.forEachRows([&](int64_t row, int64_t rows) {
      auto [data, stride] = blocks.gather(row, rows, columns);
      matmul.multiply(
          shape.dtype,
          {filters, columns.taps * columns.channels, rows, atY(row, group), 1,
           shape.filters, data, stride, 1,
           atWeight(group, 0, columns.firstTap, columns.firstChannel),
           taps * channels, shape.accumulate || row > 0});
    });
  });
}

/// Copies `columns` channels of the pixels of a phase between x and rows side
/// by side.
void Convolution::copyPhase(Direction direction, const WindowPhase &vertical,
                            const WindowPhase &horizontal, int64_t firstRow,
                            int64_t rows, char *xFirst, int64_t columns,
                            char *copy) {
  int64_t bytes = columns * elementBytes;
  Grid grid{vertical.axis.positions, horizontal.axis.positions};
  matmul.threads().divide(
      rows, rows * columns * moveWork, [&](int64_t from, int64_t to) {
        char *own = copy + from * bytes;
        grid.forEach(firstRow + from, firstRow + to,
                     [&](int64_t image, int64_t q, int64_t p) {
                       int64_t line = vertical.target(q);
                       int64_t pixel = (image * windows.h + line) * windows.w +
                                       horizontal.target(p);
                       char *place = xFirst + pixel * windows.c * elementBytes;
                       if (direction == Direction::toX)
                         memcpy(place, own, bytes);
                       else
                         memcpy(own, place, bytes);
                       own += bytes;
                     });
      });
}

void Convolution::inputGrad(int64_t group, const WindowPhase &vertical,
                            const WindowPhase &horizontal) {
  Patches patches = {vertical.axis,
                     horizontal.axis,
                     windows.n,
                     atY(0, group),
                     shape.filters * elementBytes,
                     elementBytes};
  if (patches.rows() * patches.taps() == 0)
    return;
  // Without a stride there is one phase, all pixels of x.
  bool isDirect = windows.strideH == 1 && windows.strideW == 1;
  int64_t width = isDirect ? channels : evenPart(channels, mostResults);
  // Weights of a tap are a matrix whose rows are as far apart as filters. Those
  // of few filters are put together, so that taps share a product.
  int64_t depth = patches.taps() * filters;
  bool isTurned = filters < fewFilters && depth * width <= scratchElements / 4;
  int64_t turnedElements = isTurned ? depth * width : 0;
  Blocks blocks(matmul.threads(), patches, filters,
                scratch + turnedElements * elementBytes,
                scratchElements - turnedElements, isDirect ? 0 : width);
  for (int64_t channel = 0; channel < channels; channel += width) {
    int64_t columns = std::min(width, channels - channel);
    auto weightOf = [&](int64_t tap, int64_t filter) {
      int64_t i = vertical.tap(tap / horizontal.axis.taps);
      int64_t j = horizontal.tap(tap % horizontal.axis.taps);
      return atWeight(group, filter, i * windows.kw + j, channel);
    };
    if (isTurned)
      for (int64_t row = 0; row < depth; ++row)
        memcpy(scratch + row * columns * elementBytes,
               weightOf(row / filters, row % filters), columns * elementBytes);
    blocks.forEachRows([&](int64_t row, int64_t rows) {
      char *result = isDirect ? atX(row, group) : blocks.end();
      int64_t resultStride = isDirect ? windows.c : columns;
      bool accumulate = shape.accumulate;
      if (!isDirect && accumulate)
        copyPhase(Direction::fromX, vertical, horizontal, row, rows,
                  atX(0, group, channel), columns, result);
      blocks.forEachColumns([&](const Columns &block) {
        auto [data, stride] = blocks.gather(row, rows, block);
        int64_t together = isTurned ? block.taps : 1;
        for (int64_t t = 0; t < block.taps; t += together) {
          int64_t tap = block.firstTap + t;
          matmul.multiply(
              shape.dtype,
              {rows, columns, together * block.channels,
               data + t * block.channels * elementBytes, stride, 1,
               isTurned ? scratch + tap * filters * columns * elementBytes
                        : weightOf(tap, block.firstChannel),
               isTurned ? columns : taps * channels, 1, result, resultStride,
               accumulate});
          accumulate = true;
        }
      });
      if (!isDirect)
        copyPhase(Direction::toX, vertical, horizontal, row, rows,
                  atX(0, group, channel), columns, result);
    });
  }
}

void Convolution::inputGrad() {
  WindowAxis vertical = windows.vertical(), horizontal = windows.horizontal();
  auto hasTaps = [](const WindowAxis &axis) {
    for (int64_t phase = 0; phase < axis.stride; ++phase)
      if (WindowPhase::ofGradient(axis, phase).axis.taps == 0)
        return false;
    return true;
  };
  // What no window reads.
  if (!shape.accumulate && !(hasTaps(vertical) && hasTaps(horizontal)))
    memset(x, 0, windows.n * windows.h * windows.w * windows.c * elementBytes);
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t i = 0; i < vertical.stride; ++i)
      for (int64_t j = 0; j < horizontal.stride; ++j)
        inputGrad(group, WindowPhase::ofGradient(vertical, i),
                  WindowPhase::ofGradient(horizontal, j));
}

void Convolution::run() {
  switch (shape.role) {
  case DTC_CONV_FORWARD:
    for (int64_t group = 0; group < shape.groups; ++group)
      forward(group);
    return;
  case DTC_CONV_WEIGHT_GRAD:
    for (int64_t group = 0; group < shape.groups; ++group)
      weightGrad(group);
    return;
  case DTC_CONV_INPUT_GRAD:
    return inputGrad();
  }
}

void dtc::rt::convolve(MatMul &matmul, const ConvolutionShape &shape, void *x,
                       void *weight, void *y, void *scratch) {
  if (isDepthwise(shape))
    return convolveDepthwise(matmul.threads(), shape, x, weight, y, scratch);
  Convolution(matmul, shape, x, weight, y, scratch).run();
}
