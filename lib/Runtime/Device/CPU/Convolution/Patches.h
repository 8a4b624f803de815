//===- Patches.h - pixels under windows, as a matrix ------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_PATCHES_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_PATCHES_H

#include "System/Threads.h"
#include "Windows.h"

namespace dtc::rt {

/// A moved element takes about as long as so many multiplications.
constexpr int64_t moveWork = 16;

/// The size of equal parts of at most `most` elements.
inline int64_t evenPart(int64_t size, int64_t most) {
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

/// Columns of a matrix of patches: some channels of a group, for some taps.
struct Columns {
  int64_t firstTap, taps, group, firstChannel, channels;

  int64_t count() const { return taps * channels; }
};

/// A matrix for each group of channels, with a row for each position of all
/// images: the pixels under the taps of its window side by side, zero outside
/// of the image.
struct Patches {
  WindowAxis vertical, horizontal;
  int64_t images;
  const char *source;
  int64_t groups, channels, elementBytes;

  int64_t rows() const {
    return images * vertical.positions * horizontal.positions;
  }
  int64_t taps() const { return vertical.taps * horizontal.taps; }
  int64_t pixelElements() const { return groups * channels; }

  /// Whether the pixels of the source already are the rows.
  bool isSource() const;
  /// Writes rows, one after the other.
  void gather(int64_t firstRow, int64_t endRow, const Columns &columns,
              char *target) const;
};

/// The division of patches into blocks, which are gathered one by one unless
/// the source already has them as rows.
class Blocks {
public:
  struct Matrix {
    const char *data;
    int64_t rowStride;
  };

  /// With room for `elements` in `buffer`, of which each row needs `extra` for
  /// something else.
  Blocks(const Threads &threads, const Patches &patches, char *buffer,
         int64_t elements, int64_t extra = 0);

  /// The begin of the extra memory.
  char *extra() const { return buffer + blockElements * patches.elementBytes; }

  /// Calls body(first row, number of rows).
  template <typename Body> void forEachRows(const Body &body) const {
    for (int64_t row = 0; row < patches.rows(); row += mostRows)
      body(row, std::min(mostRows, patches.rows() - row));
  }
  /// Calls body(Columns).
  template <typename Body>
  void forEachColumns(int64_t group, const Body &body) const {
    for (int64_t tap = 0; tap < patches.taps(); tap += mostTaps)
      for (int64_t channel = 0; channel < patches.channels;
           channel += mostChannels)
        body(Columns{tap, std::min(mostTaps, patches.taps() - tap), group,
                     channel,
                     std::min(mostChannels, patches.channels - channel)});
  }

  /// These rows and columns, until the next call.
  Matrix gather(int64_t firstRow, int64_t rows, const Columns &columns) const;

private:
  const Threads &threads;
  const Patches &patches;
  char *buffer;
  bool isGathered;
  int64_t mostRows, mostTaps, mostChannels, blockElements;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_PATCHES_H
