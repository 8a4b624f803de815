//===- ScatterEmit.cpp - scatter_add on GPUs ------------------------------===//
//
// Rows of updates are added to rows of a table in a fixed order. No thread adds
// more than a slice of them, whatever the indices are.
//
// A small table is a sum over rows. A thread has a slice of the updates and a
// chunk of columns, and keeps a sum for each row of the table. Then the sums of
// slices are added.
//
// For a larger table, positions are sorted by the row that they update. A
// thread has a slice of the sorted positions and a chunk of columns. It writes
// the sum of each row that begins in its slice. A sum that continues a row of
// the slice before is a carry. Carries are the updates of the next level, which
// adds slices of carries in the same way, until one slice is left.
//
//===----------------------------------------------------------------------===//

#include "DeviceBuilder.h"
#include "NestEmit.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "dtc/Lowering/RowLoops/Evaluate.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace dtc;
using arith::CmpIPredicate;

namespace {

constexpr int64_t blockSize = 256;
/// The largest number of table rows whose sums a thread keeps in registers.
constexpr int64_t fewRows = 8;
/// The number of positions that a thread adds.
constexpr int64_t sliceSize = 32;

/// The loops of a nest, and its buffers in scratch.
struct Scatter {
  Scatter(const RowLoopsPlan &plan, unsigned nestIndex);

  const RowLoopsPlan *plan;
  unsigned nestIndex;
  const Statement *statement;
  int64_t tables, positions; ///< rows of updates of a table
  int64_t rows, rowElements; ///< of a table
  int64_t lanes;             ///< elements of a chunk
  Type wordType;             ///< of row numbers and positions
  Type sumType;

  const Nest &getNest() const { return plan->getNests()[nestIndex]; }
  int64_t countUpdates() const { return tables * positions; }
  int64_t countChunks() const { return rowElements / lanes; }
  bool isOneHot() const { return tables == 1 && rows <= fewRows; }
};

/// A buffer in scratch.
struct Part {
  Part(ScratchLayout &layout, Type element, int64_t size)
      : element(element), size(size), offset(layout.add(element, size)) {}

  Value view(OpBuilder &b, Location loc,
             const KernelArguments &arguments) const {
    return arguments.viewScratch(b, loc, element, size, offset);
  }

  Type element;
  int64_t size, offset;
};

/// The code of one device function.
class ScatterEmitter {
public:
  ScatterEmitter(OpBuilder &b, gpu::GPUFuncOp function, const Scatter &scatter,
                 KernelArguments &arguments)
      : loc(function.getLoc()), scatter(scatter), statement(*scatter.statement),
        code{loc, function}, evaluator(loc, *scatter.plan, scatter.getNest(),
                                       scatter.nestIndex, arguments.buffers),
        top(b), arguments(arguments) {
    Value anchor = code.index(b, 0);
    evaluator.enterNest(OpBuilder(anchor.getDefiningOp()));
  }

  Value view(const Part &part) {
    Value memref = part.view(top, loc, arguments);
    arguments.buffers.alignments[memref] = 64;
    return memref;
  }
  void emitRows(Value rows);
  void sortRuns(const SortShape &shape, Value rows, Value sortedRows,
                Value sortedPositions) {
    emitSortOfRuns(top, code.function, shape, rows, sortedRows, sortedPositions,
                   blockSize);
  }
  void mergeRuns(const SortShape &shape, Value rows, Value positions,
                 Value sortedRows, Value sortedPositions) {
    emitMergeOfRuns(top, code.function, shape, rows, positions, sortedRows,
                    sortedPositions, blockSize);
  }
  void emitOneHot(Value sums, RowSlices slices);
  /// Adds the updates of a level in `count` slices, which are `stride` sorted
  /// positions apart. `positions` is null if they are 0, 1, 2, ...; `values`
  /// (the updates) is null in the first level, and `carries` is null in the
  /// last.
  void emitSums(Value rows, Value positions, int64_t count, int64_t stride,
                Value values, Value carries);

private:
  Value evaluateAt(OpBuilder &b, const TensorRead &read, Value position,
                   Value chunk, int64_t width);
  Value getRow(OpBuilder &b, Value position);
  Value getUpdate(OpBuilder &b, Value position, Value chunk);
  Value getZero(OpBuilder &b) const;
  Value load(OpBuilder &b, Value memref, Value row, Value chunk);
  void store(OpBuilder &b, Value x, Value memref, Value row, Value chunk);
  Value getStart(OpBuilder &b, Value row, Value chunk) const;
  llvm::MaybeAlign getAlignment(Value memref) const;

  Location loc;
  const Scatter &scatter;
  const Statement &statement;
  DeviceBuilder code;
  Evaluator evaluator;
  OpBuilder &top;
  KernelArguments &arguments;
};

} // namespace

Scatter::Scatter(const RowLoopsPlan &plan, unsigned nestIndex)
    : plan(&plan), nestIndex(nestIndex),
      statement(plan.getNests()[nestIndex].roots[0]) {
  auto op = cast<ScatterAddOp>(statement->op);
  int64_t indexRank = op.getIndices().getType().getRank();
  ArrayRef<int64_t> ranges = statement->ranges;
  tables = llvm::product_of(ranges.take_front(op.getBatchDims()));
  positions = llvm::product_of(
      ranges.take_front(indexRank).drop_front(op.getBatchDims()));
  rowElements = llvm::product_of(ranges.drop_front(indexRank));
  RankedTensorType table = getWrittenType(*statement);
  rows = table.getNumElements() / tables / rowElements;
  bool hasColumns = indexRank < static_cast<int64_t>(ranges.size());
  lanes = hasColumns ? std::gcd<int64_t>(4, ranges.back()) : 1;
  Builder b(op.getContext());
  bool isSmall =
      std::max(tables * rows, countUpdates()) < std::numeric_limits<int>::max();
  wordType = isSmall ? b.getI32Type() : b.getI64Type();
  sumType = table.getElementType();
  if (sumType.getIntOrFloatBitWidth() < 32)
    sumType = b.getF32Type();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Evaluates an operand at a row of updates and a chunk of it.
Value ScatterEmitter::evaluateAt(OpBuilder &b, const TensorRead &read,
                                 Value position, Value chunk, int64_t width) {
  ArrayRef<int64_t> ranges = statement.ranges;
  int64_t indexRank =
      cast<ScatterAddOp>(statement.op).getIndices().getType().getRank();
  SmallVector<Value> loops(scatter.getNest().getNumLoops(), code.index(b, 0));
  Value element = code.multiply(b, chunk, width);
  for (int64_t loop = ranges.size(); loop-- > 0;) {
    Value &number = loop < indexRank ? position : element;
    bool isOutermost = loop == 0 || loop == indexRank;
    loops[loop] =
        isOutermost ? number : code.remainder(b, number, ranges[loop]);
    if (!isOutermost)
      number = code.divide(b, number, ranges[loop]);
  }
  evaluator.enterRow(ArrayRef(loops).drop_back());
  Value anchor = code.index(b, 0);
  evaluator.enterPhase(0, OpBuilder(anchor.getDefiningOp()));
  evaluator.enterChunk(b, loops.back(), width);
  return evaluator.evaluate(read.tensor, read.map.compose(statement.position));
}

/// The row, counted over all tables, that a row of updates is added to.
Value ScatterEmitter::getRow(OpBuilder &b, Value position) {
  Value row = evaluateAt(b, statement.inputs[1], position, code.index(b, 0), 1);
  row = arith::IndexCastOp::create(b, loc, b.getIndexType(), row);
  if (scatter.tables == 1)
    return row;
  Value table = code.divide(b, position, scatter.positions);
  return code.add(b, code.multiply(b, table, scatter.rows), row);
}

Value ScatterEmitter::getUpdate(OpBuilder &b, Value position, Value chunk) {
  Value x = evaluateAt(b, statement.inputs[0], position, chunk, scatter.lanes);
  return castFloat(b, loc, evaluator.widen(x), scatter.sumType);
}

Value ScatterEmitter::getZero(OpBuilder &b) const {
  Type type = scatter.sumType;
  if (scatter.lanes > 1)
    type = VectorType::get(scatter.lanes, type);
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

Value ScatterEmitter::getStart(OpBuilder &b, Value row, Value chunk) const {
  return code.add(b, code.multiply(b, row, scatter.rowElements),
                  code.multiply(b, chunk, scatter.lanes));
}

/// The alignment of chunks of rows in a buffer.
llvm::MaybeAlign ScatterEmitter::getAlignment(Value memref) const {
  auto known = arguments.buffers.alignments.find(memref);
  if (known == arguments.buffers.alignments.end())
    return {};
  int64_t size =
      cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8;
  return llvm::Align(
      llvm::bit_floor<uint64_t>(std::gcd(known->second, scatter.lanes * size)));
}

Value ScatterEmitter::load(OpBuilder &b, Value memref, Value row, Value chunk) {
  Value at = getStart(b, row, chunk);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Value x;
  if (scatter.lanes == 1)
    x = memref::LoadOp::create(b, loc, memref, at);
  else
    x = vector::LoadOp::create(b, loc, VectorType::get(scatter.lanes, element),
                               memref, at, /*nontemporal=*/false,
                               getAlignment(memref));
  return castFloat(b, loc, x, scatter.sumType);
}

void ScatterEmitter::store(OpBuilder &b, Value x, Value memref, Value row,
                           Value chunk) {
  Value at = getStart(b, row, chunk);
  x = castFloat(b, loc, x, cast<MemRefType>(memref.getType()).getElementType());
  if (scatter.lanes == 1)
    memref::StoreOp::create(b, loc, x, memref, at);
  else
    vector::StoreOp::create(b, loc, x, memref, at, /*nontemporal=*/false,
                            getAlignment(memref));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Emits the function that writes the target row of each row of updates.
void ScatterEmitter::emitRows(Value rows) {
  code.forItem(top, blockSize, scatter.countUpdates(),
               [&](OpBuilder &b, Value position) {
                 code.storeIndex(b, getRow(b, position), rows, position);
               });
}

/// Emits the function that writes the sums of slices for each row of the table.
void ScatterEmitter::emitOneHot(Value sums, RowSlices slices) {
  auto emit = [&](OpBuilder &b, Value item) {
    Value chunk = code.remainder(b, item, scatter.countChunks());
    Value slice = code.divide(b, item, scatter.countChunks());
    Value first = code.multiply(b, slice, slices.rows);
    SmallVector<Value> zeros(scatter.rows, getZero(b));
    auto loop =
        scf::ForOp::create(b, loc, code.index(b, 0), code.index(b, slices.rows),
                           code.index(b, 1), zeros);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value position = code.add(inner, first, loop.getInductionVar());
    Value exists;
    if (slices.count * slices.rows != scatter.countUpdates()) {
      exists = code.isLess(inner, position, scatter.countUpdates());
      position = code.orZero(inner, exists, position);
    }
    Value row = getRow(inner, position);
    Value x = getUpdate(inner, position, chunk);
    SmallVector<Value> next;
    for (auto [number, sum] : llvm::enumerate(loop.getRegionIterArgs())) {
      Value isHere = code.compare(inner, CmpIPredicate::eq, row,
                                  code.index(inner, number));
      Value term = code.select(inner, code.both(inner, exists, isHere), x,
                               getZero(inner));
      next.push_back(arith::AddFOp::create(inner, loc, sum, term));
    }
    scf::YieldOp::create(inner, loc, next);
    for (auto [number, sum] : llvm::enumerate(loop.getResults())) {
      Value at = code.add(b, code.multiply(b, slice, scatter.rows), number);
      store(b, sum, sums, at, chunk);
    }
  };
  code.forItem(top, blockSize, slices.count * scatter.countChunks(), emit);
}

void ScatterEmitter::emitSums(Value rows, Value positions, int64_t count,
                              int64_t stride, Value values, Value carries) {
  Value table = evaluator.getBuffer(statement);
  auto getRowAt = [&](OpBuilder &b, Value number) {
    return code.loadIndex(b, rows, code.multiply(b, number, stride));
  };
  // Whether the sorted position `distance` before has the same target row.
  auto continues = [&](OpBuilder &b, Value number, Value row,
                       int64_t distance) {
    Value isFirst = code.isZero(b, number);
    Value end = code.multiply(b, number, stride);
    Value before = code.select(
        b, isFirst, code.index(b, 0),
        arith::SubIOp::create(b, loc, end, code.index(b, distance)));
    Value isSame = code.compare(b, CmpIPredicate::eq,
                                code.loadIndex(b, rows, before), row);
    Value isLater =
        code.compare(b, CmpIPredicate::ne, number, code.index(b, 0));
    return code.both(b, isLater, isSame);
  };
  auto emit = [&](OpBuilder &b, Value item) {
    Value chunk = code.remainder(b, item, scatter.countChunks());
    Value slice = code.divide(b, item, scatter.countChunks());
    Value begin = code.multiply(b, slice, sliceSize);
    Value end = code.add(b, begin, sliceSize);
    if (count % sliceSize != 0)
      end = arith::MinUIOp::create(b, loc, end, code.index(b, count));
    Value first = getRowAt(b, begin);
    Value isCarried;
    if (carries)
      isCarried = continues(b, begin, first, stride);
    else
      isCarried = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));

    // Adds the sum of a row to the table, unless it is a carry.
    auto finish = [&](OpBuilder &b, Value row, Value sum, Value isCarried) {
      auto write = [&](OpBuilder &b) {
        Value total = sum;
        if (values)
          total =
              arith::AddFOp::create(b, loc, load(b, table, row, chunk), sum);
        store(b, total, table, row, chunk);
      };
      if (!carries)
        return write(b);
      auto branch = scf::IfOp::create(b, loc, isCarried, /*withElse=*/true);
      OpBuilder then = branch.getThenBodyBuilder();
      store(then, sum, carries, slice, chunk);
      OpBuilder other = branch.getElseBodyBuilder();
      write(other);
    };
    auto loop = scf::ForOp::create(b, loc, begin, end, code.index(b, 1),
                                   ValueRange{first, getZero(b), isCarried});
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value number = loop.getInductionVar();
    Value row = getRowAt(inner, number);
    Value x;
    if (!values) {
      Value position = number;
      if (positions)
        position = code.loadIndex(inner, positions, number);
      x = getUpdate(inner, position, chunk);
    } else {
      // A slice that begins with a new row has no carry.
      x = load(inner, values, number, chunk);
      x = code.select(inner, continues(inner, number, row, stride / sliceSize),
                      x, getZero(inner));
    }
    Value current = loop.getRegionIterArg(0), sum = loop.getRegionIterArg(1);
    Value carried = loop.getRegionIterArg(2);
    Value isOther = code.compare(inner, CmpIPredicate::ne, row, current);
    code.onlyIf(inner, isOther,
                [&](OpBuilder &then) { finish(then, current, sum, carried); });
    Value base = code.select(inner, isOther, getZero(inner), sum);
    Value no = arith::ConstantOp::create(inner, loc, inner.getBoolAttr(false));
    scf::YieldOp::create(inner, loc,
                         ValueRange{row,
                                    arith::AddFOp::create(inner, loc, base, x),
                                    code.select(inner, isOther, no, carried)});
    finish(b, loop.getResult(0), loop.getResult(1), loop.getResult(2));
  };
  int64_t slices = llvm::divideCeil(count, sliceSize);
  code.forItem(top, blockSize, slices * scatter.countChunks(), emit);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Adds the sums of slices to the rows of the table.
static DeviceLaunch addSlices(const Scatter &scatter, const Part &sums,
                              int64_t slices) {
  SumLaunch launch = getSumLaunch(scatter.rows * scatter.rowElements);
  Value result = scatter.statement->result;
  auto emit = [=](OpBuilder &b, gpu::GPUFuncOp function,
                  KernelArguments &arguments) {
    Location loc = function.getLoc();
    auto zero = [&] {
      return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    };
    auto addition = arith::AddFOp::create(b, loc, zero(), zero());
    emitSumOfParts(b, function, addition, sums.view(b, loc, arguments), slices,
                   arguments.buffers.tensors.lookup(result));
    addition.erase();
  };
  return {launch.blocks, launch.threads, emit};
}

ScatterLaunches dtc::planScatter(const RowLoopsPlan &plan, unsigned nestIndex,
                                 ScratchLayout &layout) {
  Scatter scatter(plan, nestIndex);
  ScatterLaunches result;
  auto add = [&](int64_t items, auto emit) {
    auto emitAll = [=](OpBuilder &b, gpu::GPUFuncOp function,
                       KernelArguments &arguments) {
      ScatterEmitter emitter(b, function, scatter, arguments);
      emit(emitter, [&](const std::optional<Part> &part) {
        return part ? emitter.view(*part) : Value();
      });
    };
    result.launches.push_back(
        {static_cast<int64_t>(llvm::divideCeil(items, blockSize)), blockSize,
         emitAll});
  };
  using View = function_ref<Value(const std::optional<Part> &)>;
  int64_t count = scatter.countUpdates(), chunks = scatter.countChunks();

  result.needsZeros = !scatter.isOneHot();
  if (scatter.isOneHot()) {
    RowSlices slices = divideColumnSums(count, chunks);
    Part sums(layout, scatter.sumType,
              slices.count * scatter.rows * scatter.rowElements);
    add(slices.count * chunks, [=](ScatterEmitter &emitter, View view) {
      emitter.emitOneHot(view(sums), slices);
    });
    result.launches.push_back(addSlices(scatter, sums, slices.count));
    return result;
  }

  auto addWords = [&] { return Part(layout, scatter.wordType, count); };
  Part rows = addWords();
  std::optional<Part> positions;
  add(count, [=](ScatterEmitter &emitter, View view) {
    emitter.emitRows(view(rows));
  });
  SortShape shape(scatter.tables, scatter.positions);
  if (scatter.positions > 1) {
    Part from = std::exchange(rows, addWords());
    positions = addWords();
    add(count, [=](ScatterEmitter &emitter, View view) {
      emitter.sortRuns(shape, view(from), view(rows), view(positions));
    });
  }
  if (shape.countRuns() > 1) {
    Part from = std::exchange(rows, addWords());
    Part fromPositions = std::exchange(*positions, addWords());
    add(count, [=](ScatterEmitter &emitter, View view) {
      emitter.mergeRuns(shape, view(from), view(fromPositions), view(rows),
                        view(positions));
    });
  }

  std::optional<Part> values, carries;
  int64_t stride = 1;
  do {
    int64_t slices = llvm::divideCeil(count, sliceSize);
    bool isLast = slices == 1 || scatter.positions == 1;
    carries.reset();
    if (!isLast)
      carries.emplace(layout, scatter.sumType, slices * scatter.rowElements);
    add(slices * chunks, [=](ScatterEmitter &emitter, View view) {
      emitter.emitSums(view(rows), view(positions), count, stride, view(values),
                       view(carries));
    });
    values = carries;
    count = slices;
    stride *= sliceSize;
  } while (carries);
  return result;
}
