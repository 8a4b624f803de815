//===- NestSchedule.h - how threads share the loops of a nest ---*- C++ -*-===//
//
// A nest of row loops becomes one device function, which a grid of equal blocks
// of threads runs. The schedule says who computes what; it changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TARGET_CUDA_NESTSCHEDULE_H
#define DTC_LIB_TARGET_CUDA_NESTSCHEDULE_H

#include "dtc/Lowering/RowLoops/Plan.h"

namespace dtc {

constexpr int64_t warpSize = 32;

enum class ThreadMapping {
  /// A chunk of columns of any row for each thread, and then the next that no
  /// other thread has: elementwise chains, totals of all elements.
  Elements,
  /// A chunk of columns for each thread, and one row after another: sums over
  /// rows.
  Columns,
  /// A team of threads for each row: reductions of rows.
  Rows,
  /// A block for each tile of a row loop and the columns: elementwise chains of
  /// which an operand is contiguous along the row loop.
  Tiles,
  /// Additions at positions that are data have several functions
  /// (ScatterEmit.cpp).
  Scatter,
};

/// The column loops of one phase that have the same range.
struct ColumnWork {
  int64_t columns;
  unsigned lanes; ///< columns of a chunk, a power of two that divides `columns`
  llvm::SmallVector<Statement *> stores, reductions, accumulations;

  int64_t chunks() const { return columns / lanes; }
};

/// The tiles of a nest, and what it reads across them.
struct TileShape {
  unsigned loop; ///< the row loop that tiles divide, besides the columns
  int64_t rows, columns; ///< ranges of these two
  /// What is contiguous along the row loop and not along the columns, by the
  /// positions of the nest's loops.
  llvm::SmallVector<TensorRead> reads;

  /// Nothing if the nest has no such reads, or does more than writing rows. Of
  /// nests without reductions.
  static std::optional<TileShape> find(const RowLoopsPlan &plan,
                                       const Nest &nest);
  int64_t countBlocks(const Nest &nest) const;
  static int64_t countThreads();
};

struct NestSchedule {
  ThreadMapping mapping;
  std::optional<TileShape> tiles; ///< of Tiles
  std::vector<std::vector<ColumnWork>> phases;

  /// Row loops that all accumulations of the nest depend on, all of them if
  /// there is none; and the others, which are the terms of sums.
  llvm::SmallVector<unsigned> kept, reduced;
  int64_t keptRows = 1, reducedRows = 1;
  /// The reduced rows are divided into so many parts, each summed by itself;
  /// another launch adds the sums of parts, in their order.
  int64_t slices = 1, rowsPerSlice = 1;

  int64_t chunks = 1; ///< of the longest column loop
  int64_t team = 1;   ///< threads of a row; a power of two, or whole warps
  /// Chunks that a thread of a team has, one after the other in the code, so
  /// that values stay in registers; 0 if they are too many: then a loop.
  int64_t unrolled = 1;

  int64_t threads = 1, blocks = 1;

  /// What the grid's threads or teams are numbered by: items of work.
  int64_t items = 1;
  int64_t teamsPerBlock() const { return threads / team; }
};

/// Rows that are summed in slices.
struct RowSlices {
  int64_t count, rows; ///< slices, and rows of each
};
/// The slices of sums over rows, of so many chunks that threads have.
RowSlices divideColumnSums(int64_t rows, int64_t chunks);

/// Whether a root may join a nest on a device: additions at positions that are
/// data have their nest alone, and accumulations of a nest keep the same rows.
bool mayJoinOnDevice(const Nest &nest, const Statement &root);

/// A sum of exponentials that is computed in the loop that finds the maximum
/// which they subtract.
struct OnlineSum {
  Statement *max, *sum;
};
/// The sum of the phase after `phase` if it is that phase's only work.
std::optional<OnlineSum> findOnlineSum(const RowLoopsPlan &plan,
                                       const NestSchedule &schedule,
                                       unsigned phase);

/// Chooses the schedule of a nest.
NestSchedule scheduleNest(const RowLoopsPlan &plan, const Nest &nest);

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_NESTSCHEDULE_H
