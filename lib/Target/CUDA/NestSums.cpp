//===- NestSums.cpp - sums over the rows of a nest ------------------------===//
//
// Sums are in registers, or in memory if a thread has too many chunks.
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"

using namespace mlir;
using namespace dtc;

SmallVector<Value> NestEmitter::takeSums() const {
  SmallVector<Value> values;
  for (const RowSum &sum : sums)
    llvm::append_range(values, sum.values);
  return values;
}

void NestEmitter::setSums(ValueRange values) {
  for (RowSum &sum : sums)
    for (Value &value : sum.values) {
      value = values.front();
      values = values.drop_front();
    }
}

void NestEmitter::createSums(OpBuilder &b) {
  for (const std::vector<ColumnWork> &works : schedule.phases)
    for (const ColumnWork &work : works)
      for (Statement *s : work.accumulations) {
        RowSum sum{s, &work, getWrittenIndex(*s).coefficients.back() == 0};
        sum.isInMemory = !sum.isTotal && schedule.unrolled == 0;
        int64_t count = 1;
        if (!sum.isTotal && schedule.mapping == ThreadMapping::Rows)
          count = llvm::divideCeil(work.chunks(), schedule.team);
        if (!sum.isInMemory)
          sum.values.assign(count,
                            getNeutral(b, loc, s->combiner,
                                       withLanes(getSumType(*s), work.lanes)));
        sums.push_back(std::move(sum));
      }
}

/// The number of elements of a slice's sums.
int64_t NestEmitter::sizeOf(const RowSum &sum) const {
  return getWrittenType(*sum.statement).getNumElements();
}

/// The index in the buffer at which a slice's sums begin.
Value NestEmitter::startOf(OpBuilder &b, const RowSum &sum, Value slice) {
  if (schedule.slices == 1)
    return {};
  return code.multiply(b, slice, sizeOf(sum));
}

/// Stores a chunk of a slice's sums.
void NestEmitter::storeSum(OpBuilder &b, const RowSum &sum, Value slice,
                           Value x) {
  evaluator.store(x, sumBuffers.lookup(sum.statement),
                  getWrittenIndex(*sum.statement), startOf(b, sum, slice),
                  sizeOf(sum));
}

/// No other thread has the columns of these chunks.
void NestEmitter::addToMemory(OpBuilder &b, RowSum &sum, Value column, Value x,
                              Value isValid) {
  Statement &s = *sum.statement;
  Value before = evaluator.load(sumBuffers.lookup(&s), getWrittenIndex(s),
                                startOf(b, sum, currentSlice), sizeOf(sum));
  x = combineValid(b, s, evaluator.widen(before), x, Value());
  code.onlyIf(b, isValid, [&](OpBuilder &inner) {
    evaluator.enterChunk(inner, column, sum.work->lanes);
    storeSum(inner, sum, currentSlice, x);
  });
}

void NestEmitter::resetMemory(OpBuilder &b, Value slice, Value isValid) {
  for (RowSum &sum : sums) {
    if (!sum.isInMemory)
      continue;
    SmallVector<Value> none;
    forEachChunk(b, *sum.work, none,
                 [&](OpBuilder &inner, const Chunk &chunk, unsigned) {
                   Statement &s = *sum.statement;
                   Value neutral =
                       getNeutral(inner, loc, s.combiner,
                                  withLanes(getSumType(s), sum.work->lanes));
                   code.onlyIf(inner, isValid, [&](OpBuilder &store) {
                     Value column =
                         code.multiply(store, chunk.number, sum.work->lanes);
                     evaluator.enterChunk(store, column, sum.work->lanes);
                     storeSum(store, sum, slice, neutral);
                   });
                 });
  }
}

/// Stores the sums of the thread, or of the team for a total. `chunkNumbers`
/// are the thread's chunks.
void NestEmitter::storeSums(OpBuilder &b, Value keptRow, Value slice,
                            Value isValid, ArrayRef<Value> chunkNumbers) {
  SmallVector<RowSum *> totals;
  SmallVector<Operation *> combiners;
  SmallVector<Value> values;
  enterRow(getRow(b, keptRow, code.index(b, 0)));
  enterPhase(b, 0);
  for (RowSum &sum : sums) {
    Statement &s = *sum.statement;
    if (sum.isTotal) {
      totals.push_back(&sum);
      combiners.push_back(s.combiner);
      values.push_back(reduceLanes(b, loc, s.combiner, sum.values[0]));
    }
    if (sum.isTotal || sum.isInMemory)
      continue;
    for (auto [number, value] : llvm::zip(chunkNumbers, sum.values)) {
      Value writes = isValid;
      if (sum.work->chunks() < schedule.chunks ||
          (schedule.mapping == ThreadMapping::Rows &&
           schedule.chunks % schedule.team != 0))
        writes =
            code.both(b, isValid, code.isLess(b, number, sum.work->chunks()));
      code.onlyIf(
          b, writes, [&, number = number, value = value](OpBuilder &inner) {
            evaluator.enterChunk(inner,
                                 code.multiply(inner, number, sum.work->lanes),
                                 sum.work->lanes);
            storeSum(inner, sum, slice, value);
          });
    }
  }
  if (totals.empty())
    return;
  code.combineTeam(b, schedule.team, combiners, values);
  Value writes = isValid;
  if (schedule.team > 1)
    writes = code.both(b, isValid, code.isZero(b, member));
  code.onlyIf(b, writes, [&](OpBuilder &inner) {
    evaluator.enterChunk(inner, code.index(inner, 0), 1);
    for (auto [sum, value] : llvm::zip(totals, values))
      storeSum(inner, *sum, slice, value);
  });
}
