//===- Winograd.cpp - convolutions of 3 x 3 by tiles ----------------------===//
//
// A result is cut into tiles of 4 x 4 pixels, each of which 6 x 6 pixels of the
// source make. Transformed, element e of all 36 is a matrix product by itself:
//
//   forward      M[e]  = V[e] * U[e]      tiles x filters, of x and weight
//   input grad   the same of y and the weights in opposite order
//   weight grad  S[e] += D[e]^T * V[e]    filters x channels, of y and x
//
// Weights are transformed some columns at a time into scratch, which all
// threads read. Tiles are transformed a block at a time into a thread's own
// memory, where they stay in its cache.
//
//===----------------------------------------------------------------------===//

#include "Winograd.h"

#include "Core/Elements.h"

#include <cstring>

using namespace dtc::rt;

namespace {

constexpr int64_t side = 4, sourceSide = 6, elements = sourceSide * sourceSide;
constexpr int64_t taps = 9;
/// Channels are divided at multiples of this: vectors.
constexpr int64_t grain = 16;
/// Sizes of a product at once: columns of U, channels of V, and filters of S.
constexpr int64_t mostColumns = narrowColumns, mostChannels = narrowColumns,
                  mostFilters = narrowColumns;
constexpr int64_t scratchFloats =
    DTC_WINOGRAD_SCRATCH_BYTES / int64_t(sizeof(float));

/// Images with channels last.
struct Images {
  float *data;
  int64_t count, height, width, channels;

  float *at(int64_t image, int64_t y, int64_t x, int64_t channel) const {
    return data + ((image * height + y) * width + x) * channels + channel;
  }
};

/// Tiles of a result, and the pixels of the source that each needs.
struct Tiles {
  int64_t rows, columns;
  int64_t padTop, padLeft; ///< of the source

  Tiles(const Images &result, int64_t padTop, int64_t padLeft)
      : rows(ceilDiv(result.height, side)),
        columns(ceilDiv(result.width, side)), padTop(padTop), padLeft(padLeft) {
  }

  struct Place {
    int64_t image, y, x;
  };
  Place result(int64_t tile) const {
    return {tile / (rows * columns), tile / columns % rows * side,
            tile % columns * side};
  }
  Place source(int64_t tile) const {
    Place place = result(tile);
    return {place.image, place.y - padTop, place.x - padLeft};
  }
};

/// A square of `images`, some channels of it; a copy, with zeros outside of the
/// image, where not all of it is inside.
WinogradSquare squareAt(const Images &images, Tiles::Place place, int64_t size,
                        int64_t channel, int64_t channels, float *copy) {
  if (place.y >= 0 && place.x >= 0 && place.y + size <= images.height &&
      place.x + size <= images.width)
    return {images.at(place.image, place.y, place.x, channel),
            images.width * images.channels, images.channels};
  WinogradSquare square = {copy, size * channels, channels};
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      float *to = copy + i * square.line + j * square.pixel;
      int64_t y = place.y + i, x = place.x + j;
      if (y >= 0 && x >= 0 && y < images.height && x < images.width)
        memcpy(to, images.at(place.image, y, x, channel),
               channels * sizeof(float));
      else
        memset(to, 0, channels * sizeof(float));
    }
  return square;
}

/// The size of parts of at most `most` that divide `count`, as equal as
/// multiples of `grain` can be.
int64_t partOf(int64_t count, int64_t most, int64_t grain) {
  int64_t parts = (count + most - 1) / most;
  int64_t part = (count + parts - 1) / parts;
  return std::min((part + grain - 1) / grain * grain, most);
}

class Winograd {
public:
  Winograd(MatMul &matmul, const ConvolutionShape &shape, float *scratch)
      : matmul(matmul), kernels(matmul.rowKernels()), shape(shape),
        scratch(scratch) {}

  /// The result of `source` and a matrix [source's channels x result's] for
  /// each tap.
  void transform(const Images &source, const Images &result, int64_t padTop,
                 int64_t padLeft, const WinogradWeights &weights);
  void weightGrad(const Images &x, const Images &y, float *weight);

private:
  /// The division of the work of `transform`.
  struct Blocks {
    int64_t threads;     ///< at most
    int64_t columns;     ///< of U at once
    int64_t channels;    ///< of V at once
    int64_t tiles;       ///< of V and M at once, at most
    int64_t panelFloats; ///< of U
    int64_t depth;
    float *u; ///< behind room for each thread to transform a panel

    int64_t step() const { return columns * depth; } ///< of U's elements
  };
  Blocks divide(int64_t tiles, int64_t depth, int64_t columns);
  void transformWeights(const Blocks &blocks, WinogradWeights weights,
                        int64_t width);
  void transformTiles(const Blocks &blocks, int thread, const Images &source,
                      const Images &result, const Tiles &tiles, int64_t first,
                      int64_t from, int64_t end);
  void write(const Images &result, Tiles::Place place, int64_t first,
             int64_t width, const WinogradSquare &from, float *copy);

  /// The number of tiles that fit a thread's memory with so many channels in
  /// all, and a square of `copied`.
  int64_t tilesOf(int64_t channels, int64_t copied) {
    int64_t room = MatMul::ownFloats - elements * copied;
    return std::max<int64_t>(room / (elements * channels), 1);
  }

  MatMul &matmul;
  const GemmKernels &kernels;
  const ConvolutionShape &shape;
  float *scratch;
};

} // namespace

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Winograd::Blocks Winograd::divide(int64_t tiles, int64_t depth,
                                  int64_t columns) {
  int64_t panel = kernels.panelColumns;
  Blocks blocks;
  blocks.depth = depth;
  blocks.panelFloats = panel * depth;
  int64_t room = scratchFloats / blocks.panelFloats; // panels
  blocks.threads = std::clamp<int64_t>(
      (room - elements) / taps, 1,
      matmul.threads().worthwhile(tiles * depth * columns * elements));
  int64_t own = blocks.threads * taps;
  blocks.u = scratch + own * blocks.panelFloats;
  int64_t most =
      std::clamp((room - own) / elements * panel, panel, mostColumns);
  blocks.columns = partOf(columns, most, panel);
  blocks.channels = partOf(depth, mostChannels, grain);
  blocks.tiles = tilesOf(blocks.channels + blocks.columns,
                         std::max(blocks.channels, blocks.columns));
  if (blocks.tiles > kernels.tileRows)
    blocks.tiles -= blocks.tiles % kernels.tileRows;
  return blocks;
}

void Winograd::transformWeights(const Blocks &blocks, WinogradWeights weights,
                                int64_t width) {
  int64_t panel = kernels.panelColumns;
  int64_t panels = (width + panel - 1) / panel;
  int64_t workers = std::min(blocks.threads, panels);
  Threads::run(int(workers), [&](int thread) {
    float *room = scratch + thread * taps * blocks.panelFloats;
    for (int64_t i = panels * thread / workers;
         i < panels * (thread + 1) / workers; ++i) {
      WinogradWeights part = weights;
      part.data += i * panel * weights.across;
      part.width = std::min(panel, width - i * panel);
      kernels.winograd.weights(part, room, blocks.u + i * blocks.panelFloats,
                               blocks.step());
    }
  });
}

/// A tile of the result, from its products.
void Winograd::write(const Images &result, Tiles::Place place, int64_t first,
                     int64_t width, const WinogradSquare &from, float *copy) {
  bool isWhole =
      place.y + side <= result.height && place.x + side <= result.width;
  WinogradSquare to = isWhole || shape.accumulate
                          ? squareAt(result, place, side, first, width, copy)
                          : WinogradSquare{copy, side * width, width};
  kernels.winograd.result(width, from, to, shape.accumulate);
  if (isWhole)
    return;
  for (int64_t i = 0; i < std::min(side, result.height - place.y); ++i)
    for (int64_t j = 0; j < std::min(side, result.width - place.x); ++j)
      memcpy(result.at(place.image, place.y + i, place.x + j, first),
             to.data + i * to.line + j * to.pixel, width * sizeof(float));
}

/// Columns of the result from `first` on, in the tiles from `from` to `end`.
void Winograd::transformTiles(const Blocks &blocks, int thread,
                              const Images &source, const Images &result,
                              const Tiles &tiles, int64_t first, int64_t from,
                              int64_t end) {
  int64_t width = std::min(blocks.columns, result.channels - first);
  int64_t most = partOf(end - from, blocks.tiles, 1);
  float *copy = matmul.ownScratch(thread);
  float *v = copy + elements * std::max(blocks.channels, blocks.columns);
  float *m = v + elements * most * blocks.channels;
  for (int64_t tile = from; tile < end; tile += most) {
    int64_t rows = std::min(most, end - tile), mStep = rows * width;
    for (int64_t c = 0; c < blocks.depth; c += blocks.channels) {
      int64_t some = std::min(blocks.channels, blocks.depth - c);
      int64_t vStep = rows * some;
      for (int64_t t = 0; t < rows; ++t)
        kernels.winograd.image(
            some,
            squareAt(source, tiles.source(tile + t), sourceSide, c, some, copy),
            {v + t * some, sourceSide * vStep, vStep});
      for (int64_t e = 0; e < elements; ++e)
        matmul.multiplyPanels(
            thread, {rows, width, some, v + e * vStep, some, 1,
                     blocks.u + e * blocks.step() + c * kernels.panelColumns,
                     kernels.panelColumns, blocks.panelFloats, m + e * mStep,
                     width, c > 0});
    }
    for (int64_t t = 0; t < rows; ++t)
      write(result, tiles.result(tile + t), first, width,
            {m + t * width, sourceSide * mStep, mStep}, copy);
  }
}

void Winograd::transform(const Images &source, const Images &result,
                         int64_t padTop, int64_t padLeft,
                         const WinogradWeights &weights) {
  Tiles tiles(result, padTop, padLeft);
  int64_t count = result.count * tiles.rows * tiles.columns;
  Blocks blocks = divide(count, source.channels, result.channels);
  for (int64_t first = 0; first < result.channels; first += blocks.columns) {
    WinogradWeights part = weights;
    part.data += first * weights.across;
    transformWeights(blocks, part,
                     std::min(blocks.columns, result.channels - first));
    int64_t workers = std::min(blocks.threads, count);
    Threads::run(int(workers), [&](int thread) {
      transformTiles(blocks, thread, source, result, tiles, first,
                     count * thread / workers, count * (thread + 1) / workers);
    });
  }
}

//===----------------------------------------------------------------------===//
// The gradient of weights
//===----------------------------------------------------------------------===//

void Winograd::weightGrad(const Images &x, const Images &y, float *weight) {
  Tiles tiles(y, shape.windows.padTop, shape.windows.padLeft);
  int64_t count = y.count * tiles.rows * tiles.columns;
  // Sums of some filters and channels. One thread adds them up over all tiles.
  int64_t threads =
      matmul.threads().worthwhile(count * x.channels * y.channels * elements);
  int64_t filters = partOf(y.channels, mostFilters, grain);
  int64_t channels = partOf(x.channels, mostChannels, grain);
  // The grouping of sums does not depend on threads.
  int64_t block = partOf(
      count, tilesOf(filters + channels, std::max(filters, channels)), 1);
  auto parts = [](int64_t all, int64_t part) {
    return (all + part - 1) / part;
  };
  while (std::max(filters, channels) > grain &&
         (threads * elements * filters * channels > scratchFloats ||
          parts(y.channels, filters) * parts(x.channels, channels) < threads)) {
    int64_t &larger = channels >= filters ? channels : filters;
    larger = (larger / 2 + grain - 1) / grain * grain;
  }
  threads = std::clamp<int64_t>(scratchFloats / (elements * filters * channels),
                                1, threads);
  int64_t across = parts(x.channels, channels);
  int64_t all = across * parts(y.channels, filters);
  threads = std::min(threads, all);

  Threads::run(int(threads), [&](int thread) {
    float *copy = matmul.ownScratch(thread);
    float *v = copy + elements * std::max(filters, channels);
    float *d = v + elements * block * channels;
    float *s = scratch + thread * elements * filters * channels;
    for (int64_t part = all * thread / threads;
         part < all * (thread + 1) / threads; ++part) {
      int64_t f = part / across * filters, c = part % across * channels;
      int64_t height = std::min(filters, y.channels - f),
              width = std::min(channels, x.channels - c);
      for (int64_t tile = 0; tile < count; tile += block) {
        int64_t some = std::min(block, count - tile);
        int64_t vStep = some * width, dStep = some * height;
        for (int64_t t = 0; t < some; ++t) {
          kernels.winograd.image(
              width,
              squareAt(x, tiles.source(tile + t), sourceSide, c, width, copy),
              {v + t * width, sourceSide * vStep, vStep});
          kernels.winograd.resultGrad(
              height,
              squareAt(y, tiles.result(tile + t), side, f, height, copy),
              {d + t * height, sourceSide * dStep, dStep});
        }
        for (int64_t e = 0; e < elements; ++e)
          matmul.multiplyAlone(thread, DTC_F32,
                               {height, width, some, d + e * dStep, 1, height,
                                v + e * vStep, width, 1, s + e * height * width,
                                width, tile > 0});
      }
      int64_t sStep = height * width;
      for (int64_t i = 0; i < height; ++i)
        kernels.winograd.weightGrad(width,
                                    {s + i * width, sourceSide * sStep, sStep},
                                    {weight + (f + i) * taps * x.channels + c,
                                     3 * x.channels, x.channels},
                                    shape.accumulate);
    }
  });
}

bool dtc::rt::isWinograd(const ConvolutionShape &shape) {
  const Windows &w = shape.windows;
  if (shape.dtype != DTC_F32 || !shape.winograd ||
      !dtc_conv_has_winograd(w.kh, w.kw, w.strideH, w.strideW, w.dilationH,
                             w.dilationW, w.c, shape.filters, shape.groups))
    return false;
  // A panel of transformed weights and what makes it fit scratch.
  const GemmKernels &kernels = *hostGemmKernels().front();
  if ((elements + taps) * kernels.panelColumns * std::max(w.c, shape.filters) >
      scratchFloats)
    return false;
  // Tiles compute pixels beside the result, a larger share the smaller the
  // result is. The batch does not matter: plans that divide it in another way
  // compute the same.
  auto isWorthwhile = [](int64_t height, int64_t width) {
    int64_t tiles = ceilDiv(height, side) * ceilDiv(width, side);
    return taps * height * width >= 2 * elements * tiles;
  };
  return shape.role == DTC_CONV_INPUT_GRAD ? isWorthwhile(w.h, w.w)
                                           : isWorthwhile(w.oh, w.ow);
}

void dtc::rt::convolveWinograd(MatMul &matmul, const ConvolutionShape &shape,
                               float *x, float *weight, float *y,
                               float *scratch) {
  const Windows &w = shape.windows;
  Images source = {x, w.n, w.h, w.w, w.c};
  Images result = {y, w.n, w.oh, w.ow, shape.filters};
  Winograd winograd(matmul, shape, scratch);
  switch (shape.role) {
  case DTC_CONV_FORWARD:
    return winograd.transform(source, result, w.padTop, w.padLeft,
                              {weight, w.c, taps * w.c, 1, 0, w.c,
                               /*isTurned=*/false});
  case DTC_CONV_INPUT_GRAD:
    return winograd.transform(result, source, 2 - w.padTop, 2 - w.padLeft,
                              {weight, w.c, 1, taps * w.c, 0, shape.filters,
                               /*isTurned=*/true});
  case DTC_CONV_WEIGHT_GRAD:
    return winograd.weightGrad(source, result, weight);
  }
}
