//===- TileEmit.cpp - transposes through shared memory --------------------===//
//
// A block computes a tile of rows and columns. Operands that are contiguous
// along the rows are first read by threads that are numbered along the rows,
// and stored in shared memory. Then threads are numbered along the columns, and
// read them from there. So a warp reads and writes contiguous memory only.
//
//===----------------------------------------------------------------------===//

#include "DeviceBuilder.h"
#include "NestEmit.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "dtc/Lowering/RowLoops/Evaluate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace dtc;

/// A tile has this many rows and columns: the threads of a warp along each.
static constexpr int64_t tileSize = warpSize;
/// The distance between rows of the tile in shared memory. It is odd, so that
/// reads along rows and along columns use different banks.
static constexpr int64_t keptStride = tileSize + 1;
static constexpr int64_t warpsPerBlock = 8;
/// Limit of shared memory of a block. With more, fewer blocks would run at a
/// time than a multiprocessor has threads for.
static constexpr int64_t mostBytes = 20 * 1024;

//===----------------------------------------------------------------------===//
// Transposed reads
//===----------------------------------------------------------------------===//

namespace {

using Read = std::pair<Value, AffineMap>;

/// The tensors that a nest reads from memory, with their positions.
struct MemoryReads {
  const RowLoopsPlan &plan;
  SmallVector<Read> reads;
  llvm::DenseSet<Read> seen;

  void collect(const Statement &s, AffineMap position) {
    forEachInput(s, [&](const TensorRead &input) {
      AffineMap at = input.map.compose(position);
      if (!seen.insert({input.tensor, at}).second)
        return;
      Statement *producer = plan.lookup(input.tensor);
      if (producer && !producer->isRoot)
        collect(*producer, at);
      else if (producer ? producer->isStored : isa<BlockArgument>(input.tensor))
        reads.push_back({input.tensor, at});
    });
  }
};

} // namespace

static int64_t getElementBits(Value tensor) {
  return getElementTypeOrSelf(tensor).getIntOrFloatBitWidth();
}

/// Whether at least a quarter of the threads of tiles has an element.
static bool fillsTiles(int64_t rows, int64_t columns) {
  return rows * columns * 4 >=
         static_cast<int64_t>(llvm::alignTo(rows, tileSize) *
                              llvm::alignTo(columns, tileSize));
}

std::optional<TileShape> TileShape::find(const RowLoopsPlan &plan,
                                         const Nest &nest) {
  unsigned columnLoop = nest.getColumnLoop();
  int64_t columns = nest.roots[0]->columns;
  MemoryReads memory{plan, {}, {}};
  for (Statement *root : nest.roots) {
    if (!root->isFunction() || root->columns != columns ||
        getWrittenIndex(*root).coefficients[columnLoop] != 1)
      return std::nullopt;
    memory.collect(*root, root->position);
  }
  std::optional<TileShape> best;
  for (unsigned loop = 0; loop < nest.rows.size(); ++loop) {
    if (!fillsTiles(nest.rows[loop], columns))
      continue;
    TileShape shape{loop, nest.rows[loop], columns, {}};
    for (auto [tensor, position] : memory.reads) {
      Statement *producer = plan.lookup(tensor);
      if (getElementBits(tensor) < 8 || // booleans
          llvm::is_contained(nest.roots, producer))
        continue;
      FlatIndex index = FlatIndex::get(
          position, cast<RankedTensorType>(tensor.getType()).getShape());
      if (index.coefficients[loop] == 1 &&
          std::abs(index.coefficients[columnLoop]) > 1)
        shape.reads.push_back({tensor, position});
    }
    int64_t bytes = 0;
    for (const TensorRead &read : shape.reads)
      bytes += tileSize * keptStride * getElementBits(read.tensor) / 8;
    if (!shape.reads.empty() && bytes <= mostBytes &&
        (!best || shape.reads.size() > best->reads.size()))
      best = std::move(shape);
  }
  return best;
}

int64_t TileShape::countThreads() { return warpSize * warpsPerBlock; }

int64_t TileShape::countBlocks(const Nest &nest) const {
  int64_t blocks =
      llvm::divideCeil(rows, tileSize) * llvm::divideCeil(columns, tileSize);
  for (auto [number, range] : llvm::enumerate(nest.rows))
    if (number != loop)
      blocks *= range;
  return blocks;
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

namespace {

class TileEmitter {
public:
  TileEmitter(OpBuilder &b, gpu::GPUFuncOp function, const RowLoopsPlan &plan,
              unsigned nestIndex, const TileShape &shape,
              const KernelBuffers &buffers)
      : loc(function.getLoc()), nest(plan.getNests()[nestIndex]), shape(shape),
        code{loc, function}, evaluator(loc, plan, nest, nestIndex, buffers),
        b(b) {}

  void emit();

private:
  void decodeBlock();
  Value enter(Value row, Value column, Scope *kept = nullptr);
  void keepTiles(Value lane, Value warp);
  void computeTile(Value lane, Value warp);

  Location loc;
  const Nest &nest;
  const TileShape &shape;
  DeviceBuilder code;
  Evaluator evaluator;
  OpBuilder &b;

  SmallVector<Value> rowLoops; ///< except the tiled one
  Value firstRow, firstColumn;
  SmallVector<Value> kept; ///< shared memory of each read
};

} // namespace

void TileEmitter::decodeBlock() {
  Value number = code.blockId(b);
  auto take = [&](int64_t count) {
    Value own = code.remainder(b, number, count);
    number = code.divide(b, number, count);
    return own;
  };
  firstColumn = code.multiply(
      b, take(llvm::divideCeil(shape.columns, tileSize)), tileSize);
  firstRow =
      code.multiply(b, take(llvm::divideCeil(shape.rows, tileSize)), tileSize);
  rowLoops.assign(nest.rows.size(), Value());
  for (unsigned loop = nest.rows.size(); loop-- > 0;)
    if (loop != shape.loop)
      rowLoops[loop] = take(nest.rows[loop]);
}

/// Enters an element of the tile. Returns whether it exists; null if it always
/// does. If it does not, values are those of the first row or column.
Value TileEmitter::enter(Value row, Value column, Scope *scope) {
  row = code.add(b, firstRow, row);
  column = code.add(b, firstColumn, column);
  Value hasRow, hasColumn;
  if (shape.rows % tileSize)
    hasRow = code.isLess(b, row, shape.rows);
  if (shape.columns % tileSize)
    hasColumn = code.isLess(b, column, shape.columns);
  rowLoops[shape.loop] = code.orZero(b, hasRow, row);
  evaluator.enterRow(rowLoops);
  column = code.orZero(b, hasColumn, column);
  Value anchor = code.index(b, 0);
  evaluator.enterPhase(0, OpBuilder(anchor.getDefiningOp()));
  evaluator.enterChunk(b, column, /*width=*/1, scope);
  return code.both(b, hasRow, hasColumn);
}

/// Reads along the rows to shared memory.
void TileEmitter::keepTiles(Value lane, Value warp) {
  for (const TensorRead &read : shape.reads)
    kept.push_back(code.addShared(
        cast<RankedTensorType>(read.tensor.getType()).getElementType(),
        tileSize * keptStride));
  for (int64_t part = 0; part < tileSize; part += warpsPerBlock) {
    Value column = code.add(b, warp, part);
    enter(lane, column);
    for (auto [read, memory] : llvm::zip(shape.reads, kept))
      memref::StoreOp::create(
          b, loc, evaluator.evaluate(read.tensor, read.map), memory,
          code.add(b, code.multiply(b, column, keptStride), lane));
  }
}

/// Computes, and writes along the columns.
void TileEmitter::computeTile(Value lane, Value warp) {
  for (int64_t part = 0; part < tileSize; part += warpsPerBlock) {
    Value row = code.add(b, warp, part);
    Scope known;
    for (auto [read, memory] : llvm::zip(shape.reads, kept))
      known.values[{read.tensor, read.map}] = memref::LoadOp::create(
          b, loc, memory, code.add(b, code.multiply(b, lane, keptStride), row));
    Value isValid = enter(row, lane, &known);
    SmallVector<Value> values;
    for (Statement *root : nest.roots)
      values.push_back(
          root->result ? evaluator.evaluate(root->result, root->position)
                       : evaluator.evaluateStatement(*root, root->position));
    code.onlyIf(b, isValid, [&](OpBuilder &inner) {
      evaluator.enterChunk(inner, code.add(inner, firstColumn, lane),
                           /*width=*/1);
      for (auto [root, value] : llvm::zip(nest.roots, values))
        evaluator.store(value, evaluator.getBuffer(*root),
                        getWrittenIndex(*root));
    });
  }
}

void TileEmitter::emit() {
  Value anchor = code.index(b, 0);
  evaluator.enterNest(OpBuilder(anchor.getDefiningOp()));
  Value thread = code.threadId(b);
  Value lane = code.remainder(b, thread, warpSize);
  Value warp = code.divide(b, thread, warpSize);
  decodeBlock();
  keepTiles(lane, warp);
  code.barrier(b);
  computeTile(lane, warp);
}

void dtc::emitTiles(OpBuilder &builder, gpu::GPUFuncOp function,
                    const RowLoopsPlan &plan, unsigned nestIndex,
                    const NestSchedule &schedule,
                    const KernelBuffers &buffers) {
  TileEmitter(builder, function, plan, nestIndex, *schedule.tiles, buffers)
      .emit();
}
