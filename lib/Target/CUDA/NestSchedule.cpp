//===- NestSchedule.cpp - assignment of a nest to threads -----------------===//
//
// Sizes suit a device with about 132 multiprocessors of 2048 threads. There is
// work for all of them, and sums have only as many parts as keep them busy.
//
//===----------------------------------------------------------------------===//

#include "NestSchedule.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace dtc;

namespace {
constexpr int64_t multiprocessors = 132;
} // namespace

static bool isColumnSum(const Statement &s) {
  return getWrittenIndex(s).coefficients.back() != 0;
}

/// Whether the position that the statement writes depends on a row loop.
static bool keepsRow(const Statement &s, unsigned loop) {
  return getWrittenIndex(s).coefficients[loop] != 0;
}

static bool isAccumulation(const Statement *s) {
  return s->kind == StatementKind::Accumulation;
}
static bool isScatter(const Statement *s) {
  return s->kind == StatementKind::Scatter;
}

/// Tensors that an element of the statement is computed from. Scalars are
/// excluded, because they are read once anyway.
static llvm::SetVector<Value> getTensorsRead(const Statement &s) {
  llvm::SetVector<Value> seen;
  for (const TensorRead &input : s.inputs)
    seen.insert(input.tensor);
  for (size_t i = 0; i < seen.size(); ++i)
    if (Operation *op = seen[i].getDefiningOp())
      seen.insert_range(op->getOperands());
  seen.remove_if([](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || type.getNumElements() == 1 ||
           isa_and_nonnull<tensor::EmptyOp, arith::ConstantOp>(
               value.getDefiningOp());
  });
  return seen;
}

/// Whether one loop for both saves reads. If not, two launches are as fast, and
/// can be merged with launches for other tensors (MergeLaunches).
static bool sharesReads(const Nest &nest, const Statement &root) {
  llvm::SetVector<Value> reads = getTensorsRead(root);
  return llvm::any_of(nest.roots, [&](const Statement *other) {
    return root.previous == other || reads.contains(other->result) ||
           llvm::any_of(getTensorsRead(*other),
                        [&](Value value) { return reads.contains(value); });
  });
}

/// More roots would need more buffers than a device function can have.
static constexpr size_t maxRoots = 100;

bool dtc::mayJoinOnDevice(const Nest &nest, const Statement &root) {
  if (nest.roots.size() >= maxRoots || !sharesReads(nest, root))
    return false;
  if (isScatter(&root) || llvm::any_of(nest.roots, isScatter))
    return false;
  if (!isAccumulation(&root))
    return true;
  for (const Statement *other : nest.roots)
    if (isAccumulation(other))
      for (unsigned loop = 0; loop < nest.rows.size(); ++loop)
        if (nest.rows[loop] > 1 &&
            keepsRow(root, loop) != keepsRow(*other, loop))
          return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Column loops
//===----------------------------------------------------------------------===//

/// The number of elements of the kernel's narrowest floating-point type in 16
/// bytes.
static int64_t getMostLanes(const Nest &nest) {
  auto function = nest.roots[0]->op
                      ? nest.roots[0]->op->getParentOfType<func::FuncOp>()
                      : cast<func::FuncOp>(nest.roots[0]
                                               ->inputs[0]
                                               .tensor.getParentRegion()
                                               ->getParentOp());
  int64_t bits = 64;
  auto narrow = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    if (isa<FloatType>(element))
      bits = std::min<int64_t>(bits, element.getIntOrFloatBitWidth());
  };
  llvm::for_each(function.getArgumentTypes(), narrow);
  llvm::for_each(function.getResultTypes(), narrow);
  return 128 / bits;
}

static std::vector<std::vector<ColumnWork>> getPhases(const Nest &nest) {
  int64_t mostLanes = getMostLanes(nest);
  std::vector<std::vector<ColumnWork>> phases(nest.numPhases);
  for (Statement *root : nest.roots) {
    std::vector<ColumnWork> &works = phases[root->phase];
    auto work = llvm::find_if(works, [&](const ColumnWork &other) {
      return other.columns == root->columns;
    });
    if (work == works.end()) {
      works.emplace_back();
      work = std::prev(works.end());
      work->columns = root->columns;
      work->lanes = std::gcd(root->columns, mostLanes);
    }
    switch (root->kind) {
    case StatementKind::Map:
      work->stores.push_back(root);
      break;
    case StatementKind::RowReduction:
      work->reductions.push_back(root);
      break;
    case StatementKind::Accumulation:
    case StatementKind::Scatter:
      work->accumulations.push_back(root);
      break;
    }
  }
  return phases;
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

/// Divides rows into slices of equal size, about `wanted` of them, with at
/// least `fewestRows` rows each.
static RowSlices divideRows(int64_t rows, int64_t wanted, int64_t fewestRows) {
  int64_t slices =
      std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, rows / fewestRows));
  // Looks for a similar number that divides the rows, so that all slices are
  // equal.
  for (int64_t near = slices; near > slices / 2; --near)
    if (rows % near == 0) {
      slices = near;
      break;
    }
  int64_t rowsPerSlice = llvm::divideCeil(rows, slices);
  return {static_cast<int64_t>(llvm::divideCeil(rows, rowsPerSlice)),
          rowsPerSlice};
}

RowSlices dtc::divideColumnSums(int64_t rows, int64_t chunks) {
  return divideRows(rows, multiprocessors * 1024 / chunks, /*fewestRows=*/8);
}

static void setSlices(NestSchedule &schedule, RowSlices slices) {
  schedule.slices = slices.count;
  schedule.rowsPerSlice = slices.rows;
}

static void mapElements(NestSchedule &schedule, bool hasTotals) {
  schedule.mapping = ThreadMapping::Elements;
  schedule.items = schedule.keptRows * schedule.reducedRows * schedule.chunks;
  schedule.threads = 256;
  schedule.blocks = llvm::divideCeil(schedule.items, schedule.threads);
  // The sum of each block is a part.
  if (hasTotals) {
    schedule.blocks = std::min(schedule.blocks, multiprocessors * 8);
    schedule.team = schedule.threads;
    schedule.slices = schedule.blocks;
  }
}

static void mapTiles(const Nest &nest, NestSchedule &schedule) {
  schedule.mapping = ThreadMapping::Tiles;
  schedule.threads = TileShape::countThreads();
  schedule.items = schedule.blocks = schedule.tiles->countBlocks(nest);
}

static void mapColumns(NestSchedule &schedule) {
  schedule.mapping = ThreadMapping::Columns;
  int64_t sums = schedule.keptRows * schedule.chunks;
  setSlices(schedule, divideColumnSums(schedule.reducedRows, sums));
  schedule.items = schedule.slices * sums;
  schedule.threads = 128;
  schedule.blocks = llvm::divideCeil(schedule.items, schedule.threads);
}

/// A row of up to 1024 columns has a team of at most a warp, with up to 32
/// columns per thread. A longer row has a block. Sums over rows take more
/// registers for each column, so a thread then has up to 8 columns.
static void mapRows(NestSchedule &schedule, ArrayRef<Statement *> sums) {
  constexpr int64_t mostThreads = 512, mostInRegisters = 32;
  bool hasColumnSums =
      llvm::any_of(sums, [](Statement *s) { return isColumnSum(*s); });
  int64_t perThread = hasColumnSums ? 8 : 16;
  int64_t mostOfWarp = hasColumnSums ? warpSize * perThread : 1024;
  schedule.mapping = ThreadMapping::Rows;
  int64_t columns = 1, lanes = 1;
  for (const std::vector<ColumnWork> &works : schedule.phases)
    for (const ColumnWork &work : works)
      if (work.columns > columns) {
        columns = work.columns;
        lanes = work.lanes;
      }
  if (columns <= mostOfWarp && schedule.chunks <= warpSize * mostInRegisters) {
    schedule.team = std::clamp<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeil(columns, perThread)), 1, warpSize);
    schedule.threads = 128;
  } else {
    schedule.team = std::min(
        mostThreads, static_cast<int64_t>(llvm::alignTo(
                         llvm::divideCeil(columns, perThread), warpSize)));
    // Uses fewer threads if their number divides the chunks evenly.
    for (int64_t team = schedule.team; team > schedule.team / 2;
         team -= warpSize)
      if (schedule.chunks % team == 0) {
        schedule.team = team;
        break;
      }
    schedule.threads = schedule.team;
  }
  schedule.unrolled = llvm::divideCeil(schedule.chunks, schedule.team);
  if (schedule.unrolled * lanes > mostInRegisters)
    schedule.unrolled = 0;
  if (!sums.empty())
    setSlices(schedule, divideRows(schedule.reducedRows,
                                   multiprocessors * 512 / schedule.team /
                                       schedule.keptRows,
                                   /*fewestRows=*/4));
  schedule.items = schedule.slices * schedule.keptRows;
  schedule.blocks = llvm::divideCeil(schedule.items, schedule.teamsPerBlock());
}

NestSchedule dtc::scheduleNest(const RowLoopsPlan &plan, const Nest &nest) {
  NestSchedule schedule;
  schedule.phases = getPhases(nest);
  for (const std::vector<ColumnWork> &works : schedule.phases)
    for (const ColumnWork &work : works)
      schedule.chunks = std::max(schedule.chunks, work.chunks());

  SmallVector<Statement *> sums =
      llvm::filter_to_vector(nest.roots, isAccumulation);
  for (auto [loop, range] : llvm::enumerate(nest.rows)) {
    if (range == 1)
      continue;
    bool isKept = sums.empty() || keepsRow(*sums.front(), loop);
    (isKept ? schedule.kept : schedule.reduced).push_back(loop);
    (isKept ? schedule.keptRows : schedule.reducedRows) *= range;
  }
  if (llvm::any_of(nest.roots, isScatter)) {
    schedule.mapping = ThreadMapping::Scatter;
    return schedule;
  }
  bool isIndependent =
      nest.numPhases == 1 && llvm::none_of(nest.roots, [](Statement *s) {
        return s->kind == StatementKind::RowReduction;
      });
  auto isTotal = [](Statement *s) { return !isColumnSum(*s); };
  if (isIndependent && sums.empty())
    schedule.tiles = TileShape::find(plan, nest);
  if (schedule.tiles)
    mapTiles(nest, schedule);
  else if (isIndependent && sums.empty())
    mapElements(schedule, /*hasTotals=*/false);
  else if (isIndependent && llvm::all_of(sums, isTotal) &&
           schedule.kept.empty())
    mapElements(schedule, /*hasTotals=*/true);
  else if (isIndependent && llvm::none_of(sums, isTotal))
    mapColumns(schedule);
  else
    mapRows(schedule, sums);
  return schedule;
}
