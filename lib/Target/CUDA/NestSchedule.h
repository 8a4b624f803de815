//===- NestSchedule.h - assignment of a nest to threads ---------*- C++ -*-===//
//
// A nest of row loops becomes one device function, which a grid of equal blocks
// runs. The schedule assigns the nest's work to threads, and changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TARGET_CUDA_NESTSCHEDULE_H
#define DTC_LIB_TARGET_CUDA_NESTSCHEDULE_H

#include "dtc/Lowering/RowLoops/Plan.h"

namespace dtc {

constexpr int64_t warpSize = 32;

enum class ThreadMapping {
  /// Each thread computes a chunk of columns of any row, then the next chunk
  /// that no other thread has. For elementwise chains and totals of all
  /// elements.
  Elements,
  /// Each thread has a chunk of columns, and computes one row after another.
  /// For sums over rows.
  Columns,
  /// A team of threads computes each row. For reductions of rows.
  Rows,
  /// Each block computes a tile of a row loop and the columns. For elementwise
  /// chains with an operand that is contiguous along the row loop.
  Tiles,
  /// Several functions add to rows at indices (ScatterEmit.cpp).
  Scatter,
};

/// The column loops of one phase that have the same range.
struct ColumnWork {
  int64_t columns;
  unsigned lanes; ///< columns of a chunk, a power of two that divides `columns`
  llvm::SmallVector<Statement *> stores, reductions, accumulations;

  int64_t chunks() const { return columns / lanes; }
};

/// The tiles of a nest, and its transposed reads.
struct TileShape {
  unsigned loop;         ///< the row loop that is tiled with the columns
  int64_t rows, columns; ///< ranges of these two loops
  /// Reads that are contiguous along the row loop instead of the columns, by
  /// positions in the nest's loops.
  llvm::SmallVector<TensorRead> reads;

  /// Returns none if the nest has no such reads, or if it does not only write
  /// rows. The nest must have no reductions.
  static std::optional<TileShape> find(const RowLoopsPlan &plan,
                                       const Nest &nest);
  int64_t countBlocks(const Nest &nest) const;
  static int64_t countThreads();
};

struct NestSchedule {
  ThreadMapping mapping;
  std::optional<TileShape> tiles; ///< for Tiles
  std::vector<std::vector<ColumnWork>> phases;

  /// The row loops that all accumulations of the nest keep (all row loops if
  /// there are no accumulations), and the others, over which sums run.
  llvm::SmallVector<unsigned> kept, reduced;
  int64_t keptRows = 1, reducedRows = 1;
  /// The reduced rows are divided into slices, which are summed separately.
  /// Another launch adds the sums of slices in order.
  int64_t slices = 1, rowsPerSlice = 1;

  int64_t chunks = 1; ///< of the longest column loop
  int64_t team = 1;   ///< threads of a row; a power of two, or whole warps
  /// Chunks of each thread of a team. The loop over them is unrolled, so that
  /// values stay in registers. 0 if they are too many: then there is a loop.
  int64_t unrolled = 1;

  int64_t threads = 1, blocks = 1;

  /// The number of items of work, one for each thread or team of the grid.
  int64_t items = 1;
  int64_t teamsPerBlock() const { return threads / team; }
};

/// Rows that are summed in slices.
struct RowSlices {
  int64_t count, rows; ///< slices, and rows of each
};
/// Divides sums over rows into slices, if each row has `chunks` chunks.
RowSlices divideColumnSums(int64_t rows, int64_t chunks);

/// Whether a root may join a nest on a device. A scatter has a nest of its own,
/// and the accumulations of a nest keep the same rows.
bool mayJoinOnDevice(const Nest &nest, const Statement &root);

/// A sum of exponentials that is computed in the same loop as the maximum that
/// they subtract.
struct OnlineSum {
  Statement *max, *sum;
};
/// The sum in the phase after `phase`, if it is that phase's only work; else
/// none.
std::optional<OnlineSum> findOnlineSum(const RowLoopsPlan &plan,
                                       const NestSchedule &schedule,
                                       unsigned phase);

/// Chooses the schedule of a nest.
NestSchedule scheduleNest(const RowLoopsPlan &plan, const Nest &nest);

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_NESTSCHEDULE_H
