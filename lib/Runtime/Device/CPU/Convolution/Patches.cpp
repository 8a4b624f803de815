//===- Patches.cpp - pixels under windows, as a matrix --------------------===//

#include "Patches.h"

#include <cstring>

using namespace dtc::rt;

/// The most columns of a gathered block: the depth or the width of a product.
static constexpr int64_t mostColumns = 512;

bool Patches::isSource() const {
  auto isIdentity = [](const WindowAxis &axis) {
    return axis.taps == 1 && axis.stride == 1 && axis.first == 0 &&
           axis.positions == axis.extent;
  };
  return isIdentity(vertical) && isIdentity(horizontal);
}

/// Copies whole elements. What a call of memcpy costs shows in short copies.
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

void Patches::gather(int64_t firstRow, int64_t endRow, const Columns &columns,
                     char *target) const {
  int64_t bytes = columns.channels * elementBytes;
  int64_t pixelBytes = pixelElements() * elementBytes;
  const char *from =
      source + (columns.group * channels + columns.firstChannel) * elementBytes;
  // Taps side by side are one run of memory, if they are whole pixels.
  bool areRuns = horizontal.step == 1 && bytes == pixelBytes;
  int64_t firstLine = columns.firstTap / horizontal.taps;
  int64_t firstInLine = columns.firstTap % horizontal.taps;
  Grid{vertical.positions, horizontal.positions}.forEach(
      firstRow, endRow, [&](int64_t image, int64_t y, int64_t x) {
        WindowAxis::Taps across = horizontal.inside(x);
        int64_t taps = columns.taps, line = vertical.pixel(y, firstLine);
        for (int64_t j = firstInLine; taps > 0; j = 0, line += vertical.step) {
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

Blocks::Blocks(const Threads &threads, const Patches &patches, char *buffer,
               int64_t elements, int64_t extra)
    : threads(threads), patches(patches), buffer(buffer),
      isGathered(!patches.isSource()) {
  int64_t channels = patches.channels, taps = patches.taps();
  mostChannels = isGathered ? evenPart(channels, mostColumns) : channels;
  // Weights of several taps are side by side only with all of their channels.
  mostTaps =
      mostChannels < channels
          ? 1
          : evenPart(taps, std::max<int64_t>(mostColumns / mostChannels, 1));
  int64_t columns = isGathered ? mostChannels * mostTaps : 0;
  mostRows = patches.rows();
  if (columns + extra > 0)
    mostRows = std::min(mostRows, elements / (columns + extra));
  // Groups that share cache lines of the source find them there.
  if (patches.groups > 1 && channels * patches.elementBytes < 64)
    mostRows = std::clamp<int64_t>(elements / 2 / patches.pixelElements(), 1,
                                   mostRows);
  mostRows = evenPart(patches.rows(), mostRows);
  blockElements = mostRows * columns;
}

Blocks::Matrix Blocks::gather(int64_t firstRow, int64_t rows,
                              const Columns &columns) const {
  if (!isGathered) {
    int64_t first =
        firstRow * patches.pixelElements() + columns.group * patches.channels;
    return {patches.source + first * patches.elementBytes,
            patches.pixelElements()};
  }
  threads.divide(
      rows, rows * columns.count() * moveWork, [&](int64_t from, int64_t to) {
        patches.gather(firstRow + from, firstRow + to, columns,
                       buffer + from * columns.count() * patches.elementBytes);
      });
  return {buffer, columns.count()};
}
