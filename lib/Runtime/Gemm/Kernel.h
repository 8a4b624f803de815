//===- Kernel.h - the blocked matrix product, for one width -----*- C++ -*-===//
//
// Included by one file per instruction set, each compiled with its own flags.
// Everything here has internal linkage: an inline function shared with other
// files could be taken by the linker from the copy with the wider
// instructions.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_GEMM_KERNEL_H
#define DTC_LIB_RUNTIME_GEMM_KERNEL_H

#include "Gemm.h"

namespace dtc::rt {
namespace {

/// Blocking: a panel of B (depth x NR) stays in the first-level cache, a block
/// of A (rows x depth) in the second, a block of B (depth x columns) in the
/// third.
constexpr int64_t depthBlock = 256;
constexpr int64_t columnBlock = 1024;
/// A row-major B at most this large, for at most so many rows, is not packed.
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

  /// An MR x NR tile of C (rows `ldc` apart) from a packed panel of A and a
  /// panel of B with rows `ldb` apart.
  static void tile(int64_t depth, const T *a, const T *b, int64_t ldb, T *c,
                   int64_t ldc, bool accumulate) {
    Vector sum[MR][2] = {};
    for (int64_t p = 0; p < depth; ++p, a += MR, b += ldb) {
      Vector b0 = *(const Unaligned *)b;
      Vector b1 = *(const Unaligned *)(b + lanes);
#pragma clang loop unroll(full)
      for (int i = 0; i < MR; ++i) {
        sum[i][0] += a[i] * b0;
        sum[i][1] += a[i] * b1;
      }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < MR; ++i) {
      Unaligned *row = (Unaligned *)(c + i * ldc);
      row[0] = accumulate ? row[0] + sum[i][0] : sum[i][0];
      row[1] = accumulate ? row[1] + sum[i][1] : sum[i][1];
    }
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

  /// C's tile at the right or lower edge: computed whole, copied in part.
  static void edgeTile(int64_t depth, const T *a, const T *b, int64_t ldb, T *c,
                       int64_t ldc, bool accumulate, int64_t rows,
                       int64_t columns) {
    alignas(64) T whole[MR * NR];
    tile(depth, a, b, ldb, whole, NR, false);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        c[i * ldc + j] =
            accumulate ? c[i * ldc + j] + whole[i * NR + j] : whole[i * NR + j];
  }

  static int64_t min(int64_t x, int64_t y) { return x < y ? x : y; }

  static void run(const GemmArguments &g, char *scratch) {
    const T *a = (const T *)g.a, *b = (const T *)g.b;
    T *packedA = (T *)scratch;
    T *packedB = packedA + rowBlock * depthBlock;
    for (int64_t column = 0; column < g.n; column += columnBlock) {
      int64_t columns = min(columnBlock, g.n - column);
      for (int64_t p = 0; p < g.k; p += depthBlock) {
        int64_t depth = min(depthBlock, g.k - p);
        // Packing does not pay for a small row-major B that few rows use:
        // its whole panels are read where they are.
        bool direct = g.bCol == 1 && g.m <= directRows &&
                      depth * g.bRow <= directElements;
        int64_t packFrom = direct ? columns / NR * NR : 0;
        const T *blockB = b + p * g.bRow + column * g.bCol;
        for (int64_t j = packFrom; j < columns; j += NR)
          packPanel<NR>(blockB + j * g.bCol, g.bCol, g.bRow,
                        min(NR, columns - j), depth, packedB + j * depth);
        for (int64_t row = 0; row < g.m; row += rowBlock) {
          int64_t rows = min(rowBlock, g.m - row);
          for (int64_t i = 0; i < rows; i += MR)
            packPanel<MR>(a + (row + i) * g.aRow + p * g.aCol, g.aRow, g.aCol,
                          min(MR, rows - i), depth, packedA + i * depth);
          T *blockC = (T *)g.c + row * g.ldc + column;
          for (int64_t j = 0; j < columns; j += NR) {
            bool packed = j >= packFrom;
            multiplyPanel(depth, rows, min(NR, columns - j), packedA,
                          packed ? packedB + j * depth : blockB + j,
                          packed ? NR : g.bRow, blockC + j, g.ldc,
                          g.accumulate || p > 0);
          }
        }
      }
    }
  }

  /// A block of rows times one panel of B.
  static void multiplyPanel(int64_t depth, int64_t rows, int64_t columns,
                            const T *packedA, const T *b, int64_t ldb, T *c,
                            int64_t ldc, bool accumulate) {
    for (int64_t i = 0; i < rows; i += MR) {
      const T *panel = packedA + i * depth;
      int64_t tileRows = min(MR, rows - i);
      if (tileRows == MR && columns == NR)
        tile(depth, panel, b, ldb, c + i * ldc, ldc, accumulate);
      else
        edgeTile(depth, panel, b, ldb, c + i * ldc, ldc, accumulate, tileRows,
                 columns);
    }
  }
};

} // namespace
} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_GEMM_KERNEL_H
