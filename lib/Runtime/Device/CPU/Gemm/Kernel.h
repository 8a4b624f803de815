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

namespace dtc::rt {
namespace {

/// Blocking: a panel of B (depth x NR) stays in the first-level cache, a block
/// of A (rows x depth) in the second, a block of B (depth x columns) in the
/// third.
constexpr int64_t depthBlock = 256;
constexpr int64_t columnBlock = 1024;
/// Packing costs more than it gives for what few tiles use: a row-major A is
/// read where it is for at most so many columns, a row-major B for at most so
/// many rows, if it is small.
constexpr int64_t directColumns = 128;
constexpr int64_t directRows = 128, directElements = 8192;

template <typename T, int vectorBytes, int MR> struct Gemm {
  static constexpr int lanes = vectorBytes / sizeof(T);
  static constexpr int NR = 2 * lanes;
  static constexpr int64_t rowBlock = (192 / MR) * MR;
  static_assert((rowBlock + columnBlock) * depthBlock * int64_t(sizeof(T)) <=
                gemmScratchBytes);

  typedef T Vector __attribute__((vector_size(vectorBytes)));
  typedef T Unaligned
      __attribute__((vector_size(vectorBytes), aligned(alignof(T))));

  /// R x V vectors of C (rows `ldc` apart). Element (i, p) of A lies at
  /// a[i * aRow + p * aCol]; the rows of B are `ldb` apart.
  template <int R, int V>
  static void tile(int64_t depth, const T *a, int64_t aRow, int64_t aCol,
                   const T *b, int64_t ldb, T *c, int64_t ldc,
                   bool accumulate) {
    // One pointer per three rows: the others are at 1 and 2 times aRow from
    // it, which addresses express, and there are not registers for all.
    const T *rows[(R + 2) / 3];
    for (int i = 0; i < R; i += 3)
      rows[i / 3] = a + i * aRow;
    Vector sum[R][V] = {};
    for (int64_t p = 0; p < depth; ++p, b += ldb) {
      Vector row[V];
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        row[j] = *(const Unaligned *)(b + j * lanes);
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
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < R; ++i) {
      Unaligned *row = (Unaligned *)(c + i * ldc);
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        row[j] = accumulate ? row[j] + sum[i][j] : sum[i][j];
    }
  }

  /// The tile of `rows` (1 to MR) rows and V vectors.
  template <int V, int R = MR> static auto tileOf(int64_t rows) {
    if constexpr (R > 1)
      if (rows < R)
        return tileOf<V, R - 1>(rows);
    return &tile<R, V>;
  }

  /// Packs `width` (at most W) vectors of `depth` elements side by side; a
  /// narrower panel is filled up with zeros. `across` is the stride from one
  /// vector to the next, `along` that within a vector.
  template <int W>
  static void packPanel(const T *source, int64_t across, int64_t along,
                        int64_t width, int64_t depth, T *panel) {
    if (width < W) {
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < W; ++i)
          panel[p * W + i] = i < width ? source[i * across + p * along] : T(0);
      return;
    }
    if (across == 1) {
      for (int64_t p = 0; p < depth; ++p)
        __builtin_memcpy(panel + p * W, source + p * along, W * sizeof(T));
      return;
    }
    int64_t p = 0;
    for (; p + 4 <= depth; p += 4) {
      int i = 0;
      for (; i + 4 <= W; i += 4)
        transpose4x4<W>(source + i * across + p, across, panel + p * W + i);
      for (; i < W; ++i)
        for (int q = 0; q < 4; ++q)
          panel[(p + q) * W + i] = source[i * across + p + q];
    }
    for (; p < depth; ++p)
      for (int64_t i = 0; i < W; ++i)
        panel[p * W + i] = source[i * across + p];
  }

  template <int W>
  static void transpose4x4(const T *source, int64_t stride, T *target) {
    typedef T Four
        __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T))));
    Four r0 = *(const Four *)source;
    Four r1 = *(const Four *)(source + stride);
    Four r2 = *(const Four *)(source + 2 * stride);
    Four r3 = *(const Four *)(source + 3 * stride);
    Four low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
    Four low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
    Four high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
    Four high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
    *(Four *)target = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    *(Four *)(target + W) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    *(Four *)(target + 2 * W) =
        __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    *(Four *)(target + 3 * W) =
        __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
  }

  static int64_t min(int64_t x, int64_t y) { return x < y ? x : y; }

  static void run(const GemmArguments &g, char *scratch) {
    const T *a = (const T *)g.a, *b = (const T *)g.b;
    T *packedA = (T *)scratch;
    T *packedB = packedA + rowBlock * depthBlock;
    bool directA = g.aCol == 1 && g.n <= directColumns;
    for (int64_t column = 0; column < g.n; column += columnBlock) {
      int64_t columns = min(columnBlock, g.n - column);
      for (int64_t p = 0; p < g.k; p += depthBlock) {
        int64_t depth = min(depthBlock, g.k - p);
        bool directB = g.bCol == 1 && g.m <= directRows &&
                       depth * g.bRow <= directElements;
        int64_t packFrom = directB ? columns / NR * NR : 0;
        const T *blockB = b + p * g.bRow + column * g.bCol;
        for (int64_t j = packFrom; j < columns; j += NR)
          packPanel<NR>(blockB + j * g.bCol, g.bCol, g.bRow,
                        min(NR, columns - j), depth, packedB + j * depth);
        for (int64_t row = 0; row < g.m; row += rowBlock) {
          int64_t rows = min(rowBlock, g.m - row);
          int64_t packTo = directA ? 0 : rows / MR * MR;
          const T *blockA = a + row * g.aRow + p * g.aCol;
          for (int64_t i = 0; i < packTo; i += MR)
            packPanel<MR>(blockA + i * g.aRow, g.aRow, g.aCol, MR, depth,
                          packedA + i * depth);
          T *blockC = (T *)g.c + row * g.ldc + column;
          for (int64_t j = 0; j < columns; j += NR) {
            bool packed = j >= packFrom;
            const T *panelB = packed ? packedB + j * depth : blockB + j;
            for (int64_t i = 0; i < rows; i += MR) {
              bool packedRows = i < packTo;
              multiply(depth, min(MR, rows - i), min(NR, columns - j),
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
      return tile(depth, a, aRow, aCol, b, ldb, c, ldc, accumulate);
    alignas(64) T whole[MR * NR];
    tile(depth, a, aRow, aCol, b, ldb, whole, NR, false);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        c[i * ldc + j] =
            accumulate ? c[i * ldc + j] + whole[i * NR + j] : whole[i * NR + j];
  }
};

} // namespace
} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_KERNEL_H
