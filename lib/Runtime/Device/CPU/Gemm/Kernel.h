//===- Kernel.h - the blocked matrix product, for one width -----*- C++ -*-===//
//
// Included by one file per instruction set, each compiled with its own flags.
// Everything here has internal linkage: an inline function shared with other
// files could be taken by the linker from the copy with the wider
// instructions.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_KERNEL_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_KERNEL_H

#include "Gemm.h"

#include <utility>

namespace dtc::rt {
namespace {

/// Blocking: the part of a panel of B (depth x NR) that a few tiles use stays
/// in the first-level cache. A narrow B is packed once, and leaves room in the
/// second-level cache for a block of A. A wide B is packed panel by panel, for
/// a block of A that takes half of that cache. Blocks of less depth have more
/// rows.
constexpr int64_t depthBytes = 2048;
constexpr int64_t narrowBytes = narrowColumns * depthBytes;
constexpr int64_t mostRows = 264, mostRowsOfNarrow = 96;
/// Packing costs more than it saves if few tiles use the result. So a row-major
/// A is read in place for at most so many columns, or if it is so flat that its
/// lines stay in the first-level cache, and a column-major A for fewer columns.
/// A small row-major B is read in place for at most so many rows.
constexpr int64_t directColumns = 128, directDepth = 96;
constexpr int64_t directTransposed = 64;
constexpr int64_t directRows = 128, directElements = 8192;
/// A transposed B is read in place, as the A of the transposed product, if it
/// is larger than A, if A has few rows, which leave at most a third of a
/// vector's lanes empty, and if C is small compared to B. Packing B takes as
/// long as multiplying about 8 rows; transposing C as it is written takes time,
/// too.
constexpr int64_t transposedRows = narrowColumns;

template <typename T, int vectorBytes, int MR> struct Gemm {
  static constexpr int lanes = vectorBytes / sizeof(T);
  static constexpr int NR = 2 * lanes, tileRows = MR;
  /// Registers beside a vector of B and one for elements of A, of rows that are
  /// packed as two vectors at most.
  static constexpr int registers = vectorBytes == 64 ? 28 : 14;
  static constexpr int oneTileRows = registers < NR ? registers : NR;
  static constexpr int64_t mostDepth = depthBytes / sizeof(T);
  static_assert((mostRows + NR) * depthBytes <= gemmScratchBytes);
  static_assert((mostRowsOfNarrow + NR) * depthBytes + narrowBytes <=
                gemmScratchBytes);
  static_assert(narrowColumns % NR == 0 &&
                mostRowsOfNarrow * depthBytes + narrowBytes <=
                    narrowScratchBytes);

  typedef T Vector __attribute__((vector_size(vectorBytes)));
  typedef T Unaligned
      __attribute__((vector_size(vectorBytes), aligned(alignof(T))));

  /// The source of B for a tile: packed rows, or rows of the operand, which are
  /// far from each other and each longer than the tile. From the operand a tile
  /// prefetches the next tile's columns, and may copy what it reads to
  /// `packed`, side by side.
  enum class Source { packed, operand, operandToPack };

  /// R x V vectors of C (rows `ldc` apart). Element (i, p) of A lies at
  /// a[i * aRow + p * aCol]; the rows of B are `ldb` apart.
  template <int R, int V, Source source>
  static void tile(int64_t depth, const T *a, int64_t aRow, int64_t aCol,
                   const T *b, int64_t ldb, T *c, int64_t ldc, bool accumulate,
                   T *packed) {
    // One pointer per three rows: the others are at 1 and 2 times aRow from
    // it, which addresses express, and there are not registers for all.
    const T *rows[(R + 2) / 3];
    for (int i = 0; i < R; i += 3)
      rows[i / 3] = a + i * aRow;
    Vector sum[R][V] = {};
    auto addProducts = [&]() __attribute__((always_inline)) {
      Vector row[V];
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        row[j] = *(const Unaligned *)(b + j * lanes);
      if constexpr (source == Source::operandToPack) {
#pragma clang loop unroll(full)
        for (int j = 0; j < V; ++j)
          ((Vector *)packed)[j] = row[j];
        packed += V * lanes;
      }
      if constexpr (source != Source::packed)
#pragma clang loop unroll(full)
        for (int j = 0; j < V; ++j)
          __builtin_prefetch(b + (V + j) * lanes, 0, 2);
#pragma clang loop unroll(full)
      for (int i = 0; i < R; ++i) {
        T element = rows[i / 3][i % 3 * aRow];
#pragma clang loop unroll(full)
        for (int j = 0; j < V; ++j)
          sum[i][j] += element * row[j];
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < R; i += 3)
        rows[i / 3] += aCol;
      b += ldb;
    };
    // C is needed at the end. If it were loaded at once, its lines would occupy
    // the buffers that loads of A and B wait in.
    int64_t p = 0;
    for (T *row = c; p < min(R, depth); ++p, row += ldc) {
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        __builtin_prefetch(row + j * lanes, 1);
      addProducts();
    }
    for (; p < depth; ++p)
      addProducts();
#pragma clang loop unroll(full)
    for (int i = 0; i < R; ++i) {
      Unaligned *row = (Unaligned *)(c + i * ldc);
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        row[j] = accumulate ? row[j] + sum[i][j] : sum[i][j];
    }
  }

  /// The tile of `rows` (least to R) rows and V vectors.
  template <int V, Source source = Source::packed, int R = MR, int least = 1>
  static auto tileOf(int64_t rows) {
    if constexpr (R > least)
      if (rows < R)
        return tileOf<V, source, R - 1, least>(rows);
    return &tile<R, V, source>;
  }

  /// Packs `width` (at most W) vectors of `depth` elements side by side; a
  /// narrower panel is filled up with zeros. `across` is the stride from one
  /// vector to the next, `along` that within a vector.
  template <int W>
  static void packPanel(const T *source, int64_t across, int64_t along,
                        int64_t width, int64_t depth, T *panel) {
    if (width < W) {
      int64_t p = 0;
      if constexpr (W % lanes == 0)
        if (along == 1)
          for (; p + lanes <= depth; p += lanes)
            for (int64_t i = 0; i < W; i += lanes)
              transposeSome(source + i * across + p, across, width - i,
                            panel + p * W + i, W);
      for (; p < depth; ++p)
        for (int64_t i = 0; i < W; ++i)
          panel[p * W + i] = i < width ? source[i * across + p * along] : T(0);
      return;
    }
    if (across == 1) {
      for (int64_t p = 0; p < depth; ++p)
        __builtin_memcpy(panel + p * W, source + p * along, W * sizeof(T));
      return;
    }
    constexpr int rest = W % lanes;
    int64_t p = 0;
    for (; p + lanes <= depth; p += lanes) {
      if constexpr (rest > 0)
        transpose<W, rest>(source + (W - rest) * across + p, across,
                           panel + p * W + W - rest);
      for (int i = 0; i + lanes <= W; i += lanes)
        transpose<W, lanes>(source + i * across + p, across, panel + p * W + i);
    }
    for (; p < depth; ++p)
      for (int64_t i = 0; i < W; ++i)
        panel[p * W + i] = source[i * across + p];
  }

  /// Packs the vectors from `first` to `end` as panels of W. It packs several
  /// panels at a time where they lie side by side, because one panel uses only
  /// a line or two of each page.
  template <int W>
  static void packPanels(const T *source, int64_t across, int64_t along,
                         int64_t first, int64_t end, int64_t depth, T *packed) {
    constexpr int64_t together = 7;
    int64_t j = first;
    if (across == 1)
      for (; j + together * W <= end; j += together * W)
        for (int64_t p = 0; p < depth; ++p)
#pragma clang loop unroll(full)
          for (int64_t i = j; i < j + together * W; i += W)
            __builtin_memcpy(packed + i * depth + p * W, source + i + p * along,
                             W * sizeof(T));
    for (; j < end; j += W)
      packPanel<W>(source + j * across, across, along, min(W, end - j), depth,
                   packed + j * depth);
  }

  /// Lanes of two vectors in turn, from lane `first` of each.
  template <int first, int... i>
  static Vector interleave(Vector x, Vector y,
                           std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, y, (i % 2 * lanes + first + i / 2)...);
  }

  static void transposeSquare(Vector (&rows)[lanes]) {
#pragma clang loop unroll(full)
    for (int step = 1; step < lanes; step *= 2) {
      Vector to[lanes];
#pragma clang loop unroll(full)
      for (int i = 0; i < lanes / 2; ++i) {
        std::make_integer_sequence<int, lanes> all;
        to[2 * i] = interleave<0>(rows[i], rows[i + lanes / 2], all);
        to[2 * i + 1] =
            interleave<lanes / 2>(rows[i], rows[i + lanes / 2], all);
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < lanes; ++i)
        rows[i] = to[i];
    }
  }

  /// Columns of `rows` rows, one vector each, as rows that are W apart. What a
  /// vector has beyond `rows` is written where the next row begins, of which
  /// that part comes after.
  template <int W, int rows>
  static void transpose(const T *source, int64_t stride, T *target) {
    static_assert(rows == lanes || lanes - rows <= W);
    Vector from[lanes] = {};
#pragma clang loop unroll(full)
    for (int i = 0; i < rows; ++i)
      from[i] = *(const Unaligned *)(source + i * stride);
    transposeSquare(from);
#pragma clang loop unroll(full)
    for (int q = 0; q < lanes; ++q)
      if (rows == lanes || q + 1 < lanes)
        *(Unaligned *)(target + q * W) = from[q];
      else
        __builtin_memcpy(target + q * W, &from[q], rows * sizeof(T));
  }

  /// Columns of the first `rows` rows, and zeros, one vector each, as rows.
  static void transposeSome(const T *source, int64_t stride, int64_t rows,
                            T *target, int64_t targetStride) {
    Vector from[lanes] = {};
#pragma clang loop unroll(full)
    for (int i = 0; i < lanes; ++i)
      if (i < rows)
        from[i] = *(const Unaligned *)(source + i * stride);
    transposeSquare(from);
#pragma clang loop unroll(full)
    for (int q = 0; q < lanes; ++q)
      *(Unaligned *)(target + q * targetStride) = from[q];
  }

  static int64_t min(int64_t x, int64_t y) { return x < y ? x : y; }

  /// The blocks of a product, for the caches.
  struct Blocks {
    bool isNarrow; ///< B is packed once for all rows
    int64_t depth, rows, columns;

    Blocks(const GemmArguments &g) {
      depth = partOf(g.k, mostDepth, 1);
      isNarrow = g.n * depth * int64_t(sizeof(T)) <= narrowBytes;
      int64_t most = isNarrow ? mostRowsOfNarrow : mostRows;
      rows = partOf(g.m, most * mostDepth / depth / MR * MR, MR);
      columns = isNarrow ? (g.n + NR - 1) / NR * NR : NR;
    }

    /// The largest of the fewest parts of at most `most`, a multiple of
    /// `grain`, that are about as large as each other.
    static int64_t partOf(int64_t size, int64_t most, int64_t grain) {
      int64_t count = (size + most - 1) / most;
      return ((size + count - 1) / count + grain - 1) / grain * grain;
    }
  };

  /// Prefetches the part of a matrix that belongs to rows `first` to `end` of
  /// `all`: a share of its vectors, `stride` apart.
  static void prefetch(const T *source, int64_t stride, int64_t vectors,
                       int64_t length, int64_t first, int64_t end,
                       int64_t all) {
    constexpr int64_t line = 64 / sizeof(T);
    for (int64_t i = vectors * first / all; i < vectors * end / all; ++i)
      for (int64_t j = 0; j < length; j += line)
        __builtin_prefetch(source + i * stride + j, 0, 2);
  }

  static void run(const GemmArguments &g, char *scratch) {
    int64_t padding = (lanes - g.m % lanes) % lanes;
    bool transposes = g.bCol != 1 && g.m <= transposedRows && g.m <= g.n &&
                      2 * g.m <= g.k && 2 * padding <= g.m;
    bool hasOneTile =
        g.bCol == 1 && g.m <= oneTileRows && g.n >= NR && !Blocks(g).isNarrow;
    transposes   ? runTransposed(g, scratch)
    : hasOneTile ? runRows(g, scratch)
                 : runBlocks<false>(g, scratch);
  }

  /// All rows of C in one tile at a time: an element of B is needed once.
  static void runRows(const GemmArguments &g, char *scratch) {
    constexpr int fewest = MR + 1;
    T *packed = (T *)scratch;
    int64_t block = Blocks(g).depth;
    int64_t stride = g.m <= lanes ? lanes : NR, column = 0;
    for (int64_t p = 0; p < g.k; p += block) {
      int64_t depth = min(block, g.k - p);
      const T *a = (const T *)g.a + p * g.aCol;
      (g.m <= lanes ? packPanels<lanes> : packPanels<NR>)(a, g.aRow, g.aCol, 0,
                                                          g.m, depth, packed);
      const T *b = (const T *)g.b + p * g.bRow;
      T *c = (T *)g.c;
      auto multiply = [&](auto tile, int64_t width) {
        for (; column + width <= g.n; column += width)
          tile(depth, packed, 1, stride, b + column, g.bRow, c + column, g.ldc,
               g.accumulate || p > 0, nullptr);
      };
      column = 0;
      if (g.m <= MR)
        multiply(tileOf<2, Source::operand>(g.m), NR);
      else if constexpr (fewest <= oneTileRows)
        multiply(tileOf<1, Source::operand, oneTileRows, fewest>(g.m), lanes);
    }
    if (column == g.n)
      return;
    GemmArguments rest = g;
    rest.n = g.n - column;
    rest.b = (const T *)g.b + column;
    rest.c = (T *)g.c + column;
    runBlocks<false>(rest, scratch);
  }

  /// Computes with a B in panels (GemmKernels::f32Panels), which needs no
  /// packing.
  static void runPanels(const GemmArguments &g, char *scratch) {
    runBlocks<true>(g, scratch);
  }

  /// C^T = B^T A^T: B is read where it is, rows of A are packed. Tiles of some
  /// columns of C are computed before they are written, so that whole lines
  /// are.
  static void runTransposed(const GemmArguments &g, char *scratch) {
    constexpr int64_t most = 48;
    static_assert(most % MR == 0 && most % lanes == 0);
    alignas(64) T tiles[most * NR] = {};
    T *packed = (T *)scratch;
    int64_t block = Blocks(g).depth;
    for (int64_t p = 0; p < g.k; p += block) {
      int64_t depth = min(block, g.k - p);
      packPanels<NR>((const T *)g.a + p * g.aCol, g.aRow, g.aCol, 0, g.m, depth,
                     packed);
      for (int64_t column = 0; column < g.n; column += most) {
        int64_t columns = min(most, g.n - column);
        const T *b = (const T *)g.b + column * g.bCol + p * g.bRow;
        for (int64_t row = 0; row < g.m; row += NR) {
          int64_t rows = min(NR, g.m - row);
          for (int64_t i = 0; i < columns; i += MR)
            multiply(depth, min(MR, columns - i), rows > lanes ? NR : lanes,
                     b + i * g.bCol, g.bCol, g.bRow, packed + row * depth, NR,
                     tiles + i * NR, NR, false);
          writeTransposed(tiles, rows, columns, (T *)g.c + row * g.ldc + column,
                          g.ldc, g.accumulate || p > 0);
        }
      }
    }
  }

  /// Writes columns of `from`, whose rows are NR apart, as rows of C.
  static void writeTransposed(const T *from, int64_t rows, int64_t columns,
                              T *c, int64_t ldc, bool accumulate) {
    for (int64_t row = 0; row < rows; row += lanes)
      for (int64_t column = 0; column < columns; column += lanes) {
        Vector square[lanes];
#pragma clang loop unroll(full)
        for (int i = 0; i < lanes; ++i)
          square[i] = *(const Vector *)(from + (column + i) * NR + row);
        transposeSquare(square);
        T *target = c + row * ldc + column;
        if (rows - row < lanes || columns - column < lanes) {
          for (int64_t i = 0; i < min(lanes, rows - row); ++i)
            for (int64_t j = 0; j < min(lanes, columns - column); ++j)
              target[i * ldc + j] = accumulate
                                        ? target[i * ldc + j] + square[i][j]
                                        : square[i][j];
          continue;
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < lanes; ++i) {
          auto *vector = (Unaligned *)(target + i * ldc);
          *vector = accumulate ? *vector + square[i] : square[i];
        }
      }
  }

  template <bool hasPanels>
  static void runBlocks(const GemmArguments &g, char *scratch) {
    const T *a = (const T *)g.a, *b = (const T *)g.b;
    bool directA = g.aCol == 1 ? g.n <= directColumns || g.k <= directDepth
                               : g.n <= directTransposed;
    Blocks blocks(g);
    T *packedB = (T *)scratch; // whole panels, so that vectors are aligned
    T *packedA = packedB + blocks.columns * blocks.depth;
    for (int64_t p = 0; p < g.k; p += blocks.depth) {
      int64_t depth = min(blocks.depth, g.k - p);
      bool directB = !hasPanels && g.bCol == 1 && g.m <= directRows &&
                     depth * g.bRow <= directElements;
      for (int64_t row = 0; row < g.m; row += blocks.rows) {
        int64_t rows = min(blocks.rows, g.m - row);
        int64_t packTo = directA ? 0 : rows / MR * MR;
        const T *blockA = a + row * g.aRow + p * g.aCol;
        packPanels<MR>(blockA, g.aRow, g.aCol, 0, packTo, depth, packedA);
        for (int64_t column = 0; column < g.n; column += blocks.columns) {
          int64_t columns = min(blocks.columns, g.n - column);
          int64_t packFrom = hasPanels ? columns
                             : directB ? columns / NR * NR
                                       : 0;
          const T *blockB = hasPanels ? b : b + p * g.bRow + column * g.bCol;
          // A panel that lies in rows is packed by the first tile. (directB is
          // of a narrow B.)
          bool tilePacks = !hasPanels && !blocks.isNarrow && g.bCol == 1 &&
                           columns == NR && rows >= MR;
          if ((row == 0 || !blocks.isNarrow) && !tilePacks)
            packPanels<NR>(blockB, g.bCol, g.bRow, packFrom, columns, depth,
                           packedB);
          // The part that is packed next.
          const T *next = blockB + columns * g.bCol;
          int64_t nextColumns =
              packFrom == 0 ? min(columns, g.n - column - columns) : 0;
          T *blockC = (T *)g.c + row * g.ldc + column;
          for (int64_t j = 0; j < columns; j += NR) {
            bool packed = hasPanels || j >= packFrom;
            const T *panelB = hasPanels
                                  ? b + (column + j) / NR * g.bCol + p * NR
                              : packed ? packedB + j * depth
                                       : blockB + j;
            for (int64_t i = 0; i < rows; i += MR) {
              int64_t end = min(i + MR, rows);
              if (nextColumns > 0 && g.bCol != 1)
                prefetch(next, g.bCol, nextColumns, depth, i, end, rows);
              bool packedRows = i < packTo;
              if (tilePacks && i == 0) {
                tile<MR, 2, Source::operandToPack>(
                    depth, packedRows ? packedA : blockA,
                    packedRows ? 1 : g.aRow, packedRows ? MR : g.aCol, blockB,
                    g.bRow, blockC, g.ldc, g.accumulate || p > 0, packedB);
                continue;
              }
              multiply(depth, end - i, min(NR, columns - j),
                       packedRows ? packedA + i * depth : blockA + i * g.aRow,
                       packedRows ? 1 : g.aRow, packedRows ? MR : g.aCol,
                       panelB, packed ? NR : g.bRow, blockC + i * g.ldc + j,
                       g.ldc, g.accumulate || p > 0);
            }
          }
        }
      }
    }
  }

  /// A tile of C, of as many vectors as it has; at the right edge it is
  /// computed whole and copied in part.
  static void multiply(int64_t depth, int64_t rows, int64_t columns, const T *a,
                       int64_t aRow, int64_t aCol, const T *b, int64_t ldb,
                       T *c, int64_t ldc, bool accumulate) {
    auto tile = columns > lanes ? tileOf<2>(rows) : tileOf<1>(rows);
    if (columns == NR || columns == lanes)
      return tile(depth, a, aRow, aCol, b, ldb, c, ldc, accumulate, nullptr);
    alignas(64) T whole[MR * NR];
    tile(depth, a, aRow, aCol, b, ldb, whole, NR, false, nullptr);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        c[i * ldc + j] =
            accumulate ? c[i * ldc + j] + whole[i * NR + j] : whole[i * NR + j];
  }
};

} // namespace
} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_KERNEL_H
