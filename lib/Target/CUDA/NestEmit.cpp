//===- NestEmit.cpp - mappings of a nest to threads -----------------------===//
//
// A mapping says which rows a thread computes, and in which order.
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Computes loop indices from their row-major number.
void NestEmitter::decode(OpBuilder &b, Value number, ArrayRef<unsigned> loops,
                         MutableArrayRef<Value> rowLoops) {
  for (unsigned loop : llvm::reverse(loops)) {
    bool isOutermost = loop == loops.front();
    rowLoops[loop] =
        isOutermost ? number : code.remainder(b, number, nest.rows[loop]);
    if (!isOutermost)
      number = code.divide(b, number, nest.rows[loop]);
  }
}

SmallVector<Value> NestEmitter::getRow(OpBuilder &b, Value keptRow,
                                       Value reducedRow) {
  SmallVector<Value> rowLoops(nest.rows.size());
  for (auto [loop, range] : llvm::zip(rowLoops, nest.rows))
    if (range == 1)
      loop = code.index(b, 0);
  decode(b, keptRow, schedule.kept, rowLoops);
  decode(b, reducedRow, schedule.reduced, rowLoops);
  return rowLoops;
}

void NestEmitter::enterRow(ValueRange rowLoops) {
  evaluator.enterRow(rowLoops);
  kept.clear();
}

/// Starts a phase: values of the row are computed before its loops.
void NestEmitter::enterPhase(OpBuilder &b, unsigned phase) {
  Value anchor = code.index(b, 0);
  evaluator.enterPhase(phase, OpBuilder(anchor.getDefiningOp()));
}

/// Calls the body for each row of a slice and carries the sums. The body also
/// gets whether the row exists; null if it always does.
void NestEmitter::forEachReducedRow(
    OpBuilder &b, Value slice,
    function_ref<void(OpBuilder &, Value, Value)> body) {
  int64_t rows = schedule.rowsPerSlice;
  Value first = code.multiply(b, slice, rows);
  if (rows == 1)
    return body(b, first, Value());
  auto loop = scf::ForOp::create(b, loc, code.index(b, 0), code.index(b, rows),
                                 code.index(b, 1), takeSums());
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  setSums(loop.getRegionIterArgs());
  Value row = code.add(inner, first, loop.getInductionVar());
  Value isValid;
  if (schedule.slices * rows != schedule.reducedRows) {
    isValid = code.isLess(inner, row, schedule.reducedRows);
    row = code.orZero(inner, isValid, row);
  }
  body(inner, row, isValid);
  inner.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> values = takeSums();
  if (!values.empty())
    scf::YieldOp::create(inner, loc, values);
  setSums(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

void NestEmitter::emitElements() {
  OpBuilder &b = top;
  Value thread = code.threadId(b), block = code.blockId(b);
  Value first = code.add(b, code.multiply(b, block, schedule.threads), thread);
  member = thread;
  createSums(b);
  auto emitItem = [&](OpBuilder &inner, Value item) {
    bool isOneRow = schedule.items == schedule.chunks;
    Value chunk =
        isOneRow ? item : code.remainder(inner, item, schedule.chunks);
    Value row = isOneRow ? code.index(inner, 0)
                         : code.divide(inner, item, schedule.chunks);
    SmallVector<Value> rowLoops =
        sums.empty() ? getRow(inner, row, code.index(inner, 0))
                     : getRow(inner, code.index(inner, 0), row);
    enterRow(rowLoops);
    for (const ColumnWork &work : schedule.phases[0]) {
      enterPhase(inner, 0);
      Value isValid;
      if (work.chunks() < schedule.chunks)
        isValid = code.isLess(inner, chunk, work.chunks());
      emitChunk(inner, work, {chunk, isValid}, Value(), {}, 0);
    }
  };
  // A loop even if there is an item for each thread, so that functions for
  // tensors of different sizes have equal code.
  if (sums.empty())
    return code.onlyIf(b, code.isLess(b, first, schedule.items),
                       [&](OpBuilder &inner) { emitItem(inner, first); });
  int64_t stride = schedule.blocks * schedule.threads;
  auto loop = scf::ForOp::create(b, loc, first, code.index(b, schedule.items),
                                 code.index(b, stride), takeSums());
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  setSums(loop.getRegionIterArgs());
  emitItem(inner, loop.getInductionVar());
  scf::YieldOp::create(inner, loc, takeSums());
  setSums(loop.getResults());
  storeSums(b, code.index(b, 0), block, Value(), {});
}

void NestEmitter::emitColumns() {
  OpBuilder &b = top;
  Value thread = code.threadId(b), block = code.blockId(b);
  Value item = code.add(b, code.multiply(b, block, schedule.threads), thread);
  Value isValid;
  if (schedule.blocks * schedule.threads != schedule.items)
    isValid = code.isLess(b, item, schedule.items);
  code.onlyIf(b, isValid, [&](OpBuilder &inner) {
    createSums(inner);
    Value chunk = code.remainder(inner, item, schedule.chunks);
    Value rest = code.divide(inner, item, schedule.chunks);
    Value keptRow = code.remainder(inner, rest, schedule.keptRows);
    Value slice = code.divide(inner, rest, schedule.keptRows);
    forEachReducedRow(
        inner, slice, [&](OpBuilder &row, Value reducedRow, Value rowIsValid) {
          enterRow(getRow(row, keptRow, reducedRow));
          for (const ColumnWork &work : schedule.phases[0]) {
            enterPhase(row, 0);
            Value chunkIsValid;
            if (work.chunks() < schedule.chunks)
              chunkIsValid = code.isLess(row, chunk, work.chunks());
            emitChunk(row, work, {chunk, chunkIsValid}, rowIsValid, {}, 0);
          }
        });
    storeSums(inner, keptRow, slice, Value(), {chunk});
  });
}

void NestEmitter::emitRows() {
  OpBuilder &b = top;
  Value thread = code.threadId(b), block = code.blockId(b);
  member = code.remainder(b, thread, schedule.team);
  Value item = code.add(b, code.multiply(b, block, schedule.teamsPerBlock()),
                        code.divide(b, thread, schedule.team));
  Value isValid;
  if (schedule.blocks * schedule.teamsPerBlock() != schedule.items) {
    isValid = code.isLess(b, item, schedule.items);
    item = code.orZero(b, isValid, item);
  }
  Value keptRow = code.remainder(b, item, schedule.keptRows);
  Value slice = code.divide(b, item, schedule.keptRows);
  currentSlice = slice;
  createSums(b);
  enterRow(getRow(b, keptRow, code.index(b, 0)));
  enterPhase(b, 0);
  resetMemory(b, slice, isValid);
  forEachReducedRow(
      b, slice, [&](OpBuilder &row, Value reducedRow, Value rowIsValid) {
        rowIsValid = code.both(row, isValid, rowIsValid);
        enterRow(getRow(row, keptRow, reducedRow));
        for (unsigned phase = 0; phase < schedule.phases.size(); ++phase) {
          // A row in registers is read once in any case.
          std::optional<OnlineSum> online;
          if (schedule.unrolled == 0)
            online = findOnlineSum(plan, schedule, phase);
          emitPhase(row, phase, rowIsValid, online);
          phase += online ? 1 : 0; // the sum, which has no stores
        }
        // The next row uses the same shared memory.
        if (schedule.rowsPerSlice > 1 && schedule.team > warpSize)
          code.barrier(row);
      });
  if (sums.empty())
    return;
  SmallVector<Value> chunkNumbers;
  for (int64_t part = 0; part < std::max<int64_t>(schedule.unrolled, 1); ++part)
    chunkNumbers.push_back(code.add(b, member, part * schedule.team));
  storeSums(b, keptRow, slice, isValid, chunkNumbers);
}

void NestEmitter::emit() {
  Value anchor = code.index(top, 0);
  evaluator.enterNest(OpBuilder(anchor.getDefiningOp()));
  switch (schedule.mapping) {
  case ThreadMapping::Elements:
    return emitElements();
  case ThreadMapping::Columns:
    return emitColumns();
  case ThreadMapping::Rows:
    return emitRows();
  case ThreadMapping::Tiles:
  case ThreadMapping::Scatter:
    llvm_unreachable("have an emitter of their own");
  }
}

void dtc::emitNest(OpBuilder &builder, gpu::GPUFuncOp function,
                   const RowLoopsPlan &plan, unsigned nestIndex,
                   const NestSchedule &schedule, const KernelBuffers &buffers,
                   const SumBuffers &sums) {
  NestEmitter(builder, function, plan, nestIndex, schedule, buffers, sums)
      .emit();
}
