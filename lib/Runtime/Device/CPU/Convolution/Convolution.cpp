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
// period; pixels of one residue of the period have the same taps.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

#include "Core/Elements.h"
#include "Depthwise.h"
#include "Patches.h"
#include "Winograd.h"

#include <cstring>

using namespace dtc::rt;

namespace {

/// The most columns of a result that is made in scratch.
constexpr int64_t mostResults = 1024;
/// Below this number of filters, a product over the filters of one tap is too
/// flat.
constexpr int64_t fewFilters = 64;

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
  void forward();
  void weightGrad();
  void inputGrad();
  void inputGrad(const WindowResidue &vertical,
                 const WindowResidue &horizontal);
  enum class Direction { fromX, toX };
  void copyResidue(Direction direction, const WindowResidue &vertical,
                   const WindowResidue &horizontal, int64_t firstRow,
                   int64_t rows, char *xFirst, int64_t columns, char *copy);

  /// The address of a pixel of an operand, in a group.
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

  Patches patchesOfX() const {
    return {
        windows.vertical(), windows.horizontal(), windows.n, x, shape.groups,
        channels,           elementBytes};
  }

  template <typename Body> void forEachGroup(const Body &body) const {
    for (int64_t group = 0; group < shape.groups; ++group)
      body(group);
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

void Convolution::forward() {
  Patches patches = patchesOfX();
  Blocks blocks(matmul.threads(), patches, scratch, scratchElements);
  blocks.forEachRows([&](int64_t row, int64_t rows) {
    forEachGroup([&](int64_t group) {
      bool accumulate = shape.accumulate;
      blocks.forEachColumns(group, [&](const Columns &columns) {
        auto [data, stride] = blocks.gather(row, rows, columns);
        matmul.multiply(
            shape.dtype,
            {rows, filters, columns.count(), data, stride, 1,
             atWeight(group, 0, columns.firstTap, columns.firstChannel), 1,
             taps * channels, atY(row, group), shape.filters, accumulate});
        accumulate = true;
      });
    });
  });
}

void Convolution::weightGrad() {
  Patches patches = patchesOfX();
  Blocks blocks(matmul.threads(), patches, scratch, scratchElements);
  blocks.forEachRows([&](int64_t row, int64_t rows) {
    forEachGroup([&](int64_t group) {
      blocks.forEachColumns(group, [&](const Columns &columns) {
        auto [data, stride] = blocks.gather(row, rows, columns);
        matmul.multiply(
            shape.dtype,
            {filters, columns.count(), rows, atY(row, group), 1, shape.filters,
             data, stride, 1,
             atWeight(group, 0, columns.firstTap, columns.firstChannel),
             taps * channels, shape.accumulate || row > 0});
      });
    });
  });
}

/// Copies `columns` channels of the pixels of a residue between x and rows side
/// by side.
void Convolution::copyResidue(Direction direction,
                              const WindowResidue &vertical,
                              const WindowResidue &horizontal, int64_t firstRow,
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

void Convolution::inputGrad(const WindowResidue &vertical,
                            const WindowResidue &horizontal) {
  Patches patches = {vertical.axis, horizontal.axis, windows.n,   y,
                     shape.groups,  filters,         elementBytes};
  if (patches.rows() * patches.taps() == 0)
    return;
  // Without a stride there is one residue, all pixels of x.
  bool isDirect = windows.strideH == 1 && windows.strideW == 1;
  int64_t width = isDirect ? channels : evenPart(channels, mostResults);
  // The weights of a tap are a matrix with one row per filter. Taps with few
  // filters share a product.
  int64_t depth = patches.taps() * filters;
  bool isTurned = filters < fewFilters && depth * width <= scratchElements / 4;
  int64_t turnedElements = isTurned ? depth * width : 0;
  Blocks blocks(matmul.threads(), patches,
                scratch + turnedElements * elementBytes,
                scratchElements - turnedElements, isDirect ? 0 : width);

  auto compute = [&](int64_t row, int64_t rows, int64_t group, int64_t channel,
                     int64_t columns) {
    auto weightOf = [&](int64_t tap, int64_t filter) {
      int64_t i = vertical.tap(tap / horizontal.axis.taps);
      int64_t j = horizontal.tap(tap % horizontal.axis.taps);
      return atWeight(group, filter, i * windows.kw + j, channel);
    };
    if (isTurned)
      for (int64_t i = 0; i < depth; ++i)
        memcpy(scratch + i * columns * elementBytes,
               weightOf(i / filters, i % filters), columns * elementBytes);
    char *xFirst = atX(0, group, channel);
    char *result = isDirect ? atX(row, group) : blocks.extra();
    bool accumulate = shape.accumulate;
    if (!isDirect && accumulate)
      copyResidue(Direction::fromX, vertical, horizontal, row, rows, xFirst,
                  columns, result);
    blocks.forEachColumns(group, [&](const Columns &block) {
      auto [data, stride] = blocks.gather(row, rows, block);
      int64_t together = isTurned ? block.taps : 1;
      for (int64_t t = 0; t < block.taps; t += together) {
        int64_t tap = block.firstTap + t;
        matmul.multiply(shape.dtype,
                        {rows, columns, together * block.channels,
                         data + t * block.channels * elementBytes, stride, 1,
                         isTurned
                             ? scratch + tap * filters * columns * elementBytes
                             : weightOf(tap, block.firstChannel),
                         isTurned ? columns : taps * channels, 1, result,
                         isDirect ? windows.c : columns, accumulate});
        accumulate = true;
      }
    });
    if (!isDirect)
      copyResidue(Direction::toX, vertical, horizontal, row, rows, xFirst,
                  columns, result);
  };
  blocks.forEachRows([&](int64_t row, int64_t rows) {
    forEachGroup([&](int64_t group) {
      for (int64_t channel = 0; channel < channels; channel += width)
        compute(row, rows, group, channel, std::min(width, channels - channel));
    });
  });
}

void Convolution::inputGrad() {
  WindowAxis vertical = windows.vertical(), horizontal = windows.horizontal();
  auto hasTaps = [](const WindowAxis &axis) {
    for (int64_t residue = 0; residue < axis.stride; ++residue)
      if (WindowResidue::ofGradient(axis, residue).axis.taps == 0)
        return false;
    return true;
  };
  // Zeroes the pixels that no window reads.
  if (!shape.accumulate && !(hasTaps(vertical) && hasTaps(horizontal)))
    memset(x, 0, windows.n * windows.h * windows.w * windows.c * elementBytes);
  for (int64_t i = 0; i < vertical.stride; ++i)
    for (int64_t j = 0; j < horizontal.stride; ++j)
      inputGrad(WindowResidue::ofGradient(vertical, i),
                WindowResidue::ofGradient(horizontal, j));
}

void Convolution::run() {
  switch (shape.role) {
  case DTC_CONV_FORWARD:
    return forward();
  case DTC_CONV_INPUT_GRAD:
    return inputGrad();
  case DTC_CONV_WEIGHT_GRAD:
    return weightGrad();
  }
}

/// A sum of no products, where an operand has no element.
static bool isEmpty(const ConvolutionShape &shape, void *x, void *weight,
                    void *y) {
  const Windows &w = shape.windows;
  int64_t counts[] = {
      w.n * w.oh * w.ow * shape.filters, // by role
      w.n * w.h * w.w * w.c,
      shape.groups ? shape.filters * w.kh * w.kw * w.c / shape.groups : 0};
  if (counts[0] * counts[1] * counts[2] != 0)
    return false;
  void *results[] = {y, x, weight};
  if (!shape.accumulate && counts[shape.role] > 0)
    memset(results[shape.role], 0, counts[shape.role] * sizeOf(shape.dtype));
  return true;
}

void dtc::rt::convolve(MatMul &matmul, const ConvolutionShape &shape, void *x,
                       void *weight, void *y, void *scratch) {
  if (isEmpty(shape, x, weight, y))
    return;
  if (isDepthwise(shape))
    return convolveDepthwise(matmul.threads(), shape, x, weight, y, scratch);
  if (isWinograd(shape))
    return convolveWinograd(
        matmul, shape, static_cast<float *>(x), static_cast<float *>(weight),
        static_cast<float *>(y), static_cast<float *>(scratch));
  Convolution(matmul, shape, x, weight, y, scratch).run();
}
