//===- NestEmit.cpp - the code of a nest's threads ------------------------===//
//
// One function for each mapping of NestSchedule.h. What a thread has no row or
// chunk for it computes of the first one, and does not store.
//
//===----------------------------------------------------------------------===//

#include "NestEmit.h"
#include "DeviceBuilder.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "dtc/Lowering/RowLoops/Evaluate.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <map>

using namespace mlir;
using namespace dtc;

namespace {

/// A sum over rows as a thread has it: a value for each of its chunks, or one
/// if it is a total of columns, too.
struct RowSum {
  Statement *statement;
  const ColumnWork *work;
  bool isTotal;
  bool isInMemory = false; ///< too many chunks for registers
  SmallVector<Value> values;
};

class NestEmitter {
public:
  NestEmitter(OpBuilder &builder, gpu::GPUFuncOp function,
              const RowLoopsPlan &plan, unsigned nestIndex,
              const NestSchedule &schedule, const KernelBuffers &buffers,
              const SumBuffers &sumBuffers)
      : loc(function.getLoc()), plan(plan), nest(plan.getNests()[nestIndex]),
        schedule(schedule), sumBuffers(sumBuffers), code{loc, function},
        evaluator(loc, plan, nest, nestIndex, buffers), top(builder) {}

  void emit();

private:
  void emitElements();
  void emitColumns();
  void emitRows();

  // Loops.
  SmallVector<Value> getRow(OpBuilder &b, Value kept, Value reduced);
  void decode(OpBuilder &b, Value number, ArrayRef<unsigned> loops,
              MutableArrayRef<Value> rowLoops);
  void forEachReducedRow(OpBuilder &b, Value slice,
                         function_ref<void(OpBuilder &, Value, Value)> body);
  void enterRow(ValueRange rowLoops);
  void enterPhase(OpBuilder &b, unsigned phase);
  void emitPhase(OpBuilder &b, unsigned phase, Value rowIsValid,
                 std::optional<OnlineSum> online);
  bool needsBarrier(unsigned phase) const;

  // Chunks of columns.
  struct Chunk {
    Value number;
    Value isValid; ///< null: always
    Scope *kept = nullptr;
  };
  Value enterChunk(OpBuilder &b, const ColumnWork &work, const Chunk &chunk);
  void emitChunk(OpBuilder &b, const ColumnWork &work, const Chunk &chunk,
                 Value rowIsValid, MutableArrayRef<Value> reductions,
                 unsigned part);
  void
  forEachChunk(OpBuilder &b, const ColumnWork &work,
               SmallVectorImpl<Value> &carried,
               function_ref<void(OpBuilder &, const Chunk &, unsigned)> body);
  Value rescale(OpBuilder &b, Value sum, Value from, Value to);
  void addOnline(OpBuilder &b, const ColumnWork &work, const Chunk &chunk,
                 const OnlineSum &online, Value &max, Value &sum);
  Value combineValid(OpBuilder &b, Statement &statement, Value sum, Value x,
                     Value isValid);
  void finishReductions(OpBuilder &b, ArrayRef<Statement *> statements,
                        MutableArrayRef<Value> values, Value rowIsValid);

  // Sums over rows.
  void createSums(OpBuilder &b);
  void resetMemory(OpBuilder &b, Value slice, Value isValid);
  int64_t sizeOf(const RowSum &sum) const;
  Value startOf(OpBuilder &b, const RowSum &sum, Value slice);
  void storeSum(OpBuilder &b, const RowSum &sum, Value slice, Value x);
  void addToMemory(OpBuilder &b, RowSum &sum, Value column, Value x,
                   Value isValid);
  void storeSums(OpBuilder &b, Value kept, Value slice, Value isValid,
                 ArrayRef<Value> chunkNumbers);
  SmallVector<Value> takeSums() const;
  void setSums(ValueRange values);

  Location loc;
  const RowLoopsPlan &plan;
  const Nest &nest;
  const NestSchedule &schedule;
  const SumBuffers &sumBuffers;
  DeviceBuilder code;
  Evaluator evaluator;
  OpBuilder &top;

  SmallVector<RowSum> sums;
  Value member;       ///< the thread's number in its team
  Value currentSlice; ///< of reduced rows
  /// What is known of each chunk of a row: of works of so many columns, the
  /// thread's n-th.
  std::map<std::pair<int64_t, unsigned>, Scope> kept;
};

} // namespace

static Type getSumType(const Statement &statement) {
  return getWrittenType(statement).getElementType();
}

static Type withLanes(Type element, int64_t lanes) {
  return lanes == 1 ? element : VectorType::get(lanes, element);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Writes the numbers of loops whose row-major number is given.
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

/// Values of the row are computed before what follows.
void NestEmitter::enterPhase(OpBuilder &b, unsigned phase) {
  Value anchor = code.index(b, 0);
  evaluator.enterPhase(phase, OpBuilder(anchor.getDefiningOp()));
}

/// Calls back with each row of a slice, carrying the sums, and whether there is
/// one; null if always.
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
// Chunks
//===----------------------------------------------------------------------===//

/// Returns the chunk's first column.
Value NestEmitter::enterChunk(OpBuilder &b, const ColumnWork &work,
                              const Chunk &chunk) {
  Value number = code.orZero(b, chunk.isValid, chunk.number);
  Value column = code.multiply(b, number, work.lanes);
  evaluator.enterChunk(b, column, work.lanes, chunk.kept);
  return column;
}

Value NestEmitter::combineValid(OpBuilder &b, Statement &statement, Value sum,
                                Value x, Value isValid) {
  x = evaluator.widen(castFloat(b, loc, x, getElementTypeOrSelf(sum)));
  if (isValid)
    x = arith::SelectOp::create(
        b, loc, isValid, x,
        getNeutral(b, loc, statement.combiner, x.getType()));
  return combine(b, loc, statement.combiner, sum, x);
}

/// Computes what the work is at a chunk: adds to reductions of the row and to
/// sums over rows, and stores. Stores come last: a result may overwrite an
/// operand. `part` counts the thread's chunks.
void NestEmitter::emitChunk(OpBuilder &b, const ColumnWork &work,
                            const Chunk &chunk, Value rowIsValid,
                            MutableArrayRef<Value> reductions, unsigned part) {
  Value column = enterChunk(b, work, chunk);
  SmallVector<Value> stored;
  for (Statement *s : work.stores)
    stored.push_back(s->isFunction() && s->result
                         ? evaluator.evaluate(s->result, s->position)
                         : evaluator.evaluateStatement(*s, s->position));
  for (auto [s, value] : llvm::zip(work.reductions, reductions))
    value =
        combineValid(b, *s, value, evaluator.evaluateStatement(*s, s->position),
                     chunk.isValid);
  Value isValid = code.both(b, chunk.isValid, rowIsValid);
  for (RowSum &sum : sums) {
    if (sum.work != &work)
      continue;
    Statement &s = *sum.statement;
    Value x = evaluator.evaluateStatement(s, s.position);
    if (sum.isInMemory) {
      addToMemory(b, sum, column, x, isValid);
      continue;
    }
    Value &value = sum.values[sum.isTotal ? 0 : part];
    value = combineValid(b, s, value, x, isValid);
  }
  if (stored.empty())
    return;
  for (Value &value : stored)
    value = evaluator.widen(value);
  code.onlyIf(b, isValid, [&](OpBuilder &inner) {
    evaluator.enterChunk(inner, column, work.lanes);
    for (auto [s, value] : llvm::zip(work.stores, stored))
      evaluator.store(value, evaluator.getBuffer(*s), getWrittenIndex(*s));
  });
}

/// Calls back with each chunk that the thread has of a row.
void NestEmitter::forEachChunk(
    OpBuilder &b, const ColumnWork &work, SmallVectorImpl<Value> &carried,
    function_ref<void(OpBuilder &, const Chunk &, unsigned)> body) {
  int64_t chunks = work.chunks(), team = schedule.team;
  if (schedule.unrolled > 0) {
    for (int64_t part = 0; part * team < chunks; ++part) {
      Chunk chunk;
      chunk.number = code.add(b, member, part * team);
      if ((part + 1) * team > chunks)
        chunk.isValid = code.isLess(b, chunk.number, chunks);
      chunk.kept = &kept[{work.columns, part}];
      body(b, chunk, part);
    }
    return;
  }
  // Totals over rows are carried, too.
  SmallVector<Value> values(carried.begin(), carried.end());
  SmallVector<RowSum *> totals;
  for (RowSum &sum : sums)
    if (sum.work == &work && !sum.isInMemory) {
      totals.push_back(&sum);
      values.push_back(sum.values[0]);
    }
  auto exchange = [&](ValueRange from) {
    llvm::copy(from.take_front(carried.size()), carried.begin());
    for (auto [sum, value] : llvm::zip(totals, from.drop_front(carried.size())))
      sum->values[0] = value;
  };
  auto loop = scf::ForOp::create(b, loc, member, code.index(b, chunks),
                                 code.index(b, team), values);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  exchange(loop.getRegionIterArgs());
  body(inner, {loop.getInductionVar(), Value()}, 0);
  if (!values.empty()) {
    values.assign(carried.begin(), carried.end());
    for (RowSum *sum : totals)
      values.push_back(sum->values[0]);
    scf::YieldOp::create(inner, loc, values);
  }
  exchange(loop.getResults());
}

/// Combines what the threads of a team have, and registers it as the row's.
void NestEmitter::finishReductions(OpBuilder &b,
                                   ArrayRef<Statement *> statements,
                                   MutableArrayRef<Value> values,
                                   Value rowIsValid) {
  SmallVector<Operation *> combiners;
  for (auto [s, value] : llvm::zip(statements, values)) {
    combiners.push_back(s->combiner);
    value = reduceLanes(b, loc, s->combiner, value);
  }
  code.combineTeam(b, schedule.team, combiners, values);
  SmallVector<Statement *> stored;
  for (auto [s, value] : llvm::zip(statements, values)) {
    evaluator.setRowValue(s, value);
    if (s->isStored)
      stored.push_back(s);
  }
  if (stored.empty())
    return;
  Value writes = rowIsValid;
  if (schedule.team > 1)
    writes = code.both(b, rowIsValid, code.isZero(b, member));
  code.onlyIf(b, writes, [&](OpBuilder &inner) {
    evaluator.enterChunk(inner, code.index(inner, 0), 1);
    for (auto [s, value] : llvm::zip(statements, values))
      if (s->isStored)
        evaluator.store(value, evaluator.getBuffer(*s), getWrittenIndex(*s));
  });
}

/// Whether a later phase may read what this one stores, at another column.
bool NestEmitter::needsBarrier(unsigned phase) const {
  if (schedule.team == 1 || phase + 1 == schedule.phases.size())
    return false;
  auto isRead = [&](Value result) {
    return llvm::any_of(
               result.getUsers(),
               [](Operation *user) { return !isa<func::ReturnOp>(user); }) ||
           llvm::any_of(nest.roots, [&](Statement *copy) {
             return !copy->op && copy->inputs[0].tensor == result;
           });
  };
  return llvm::any_of(schedule.phases[phase], [&](const ColumnWork &work) {
    return llvm::any_of(work.stores, [&](Statement *s) {
      return s->result && isRead(s->result);
    });
  });
}

/// The maximum of nothing: finite, so that it can be subtracted from minus
/// infinity. A row of these alone has the sum zero, and whatever is divided by
/// that is no number, as if the maximum were infinite, too.
static Value getLowest(OpBuilder &b, Location loc, Type type) {
  auto lowest = APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(),
                                    /*Negative=*/true);
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, lowest));
}

/// A sum of exponentials less `from`, as one of these less `to`.
Value NestEmitter::rescale(OpBuilder &b, Value sum, Value from, Value to) {
  Value factor =
      math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, from, to));
  if (auto type = dyn_cast<VectorType>(sum.getType()))
    factor = vector::BroadcastOp::create(b, loc, type, factor);
  return arith::MulFOp::create(b, loc, sum, factor);
}

/// Adds a chunk to the maximum, a scalar, and to the sum, which is less that.
void NestEmitter::addOnline(OpBuilder &b, const ColumnWork &work,
                            const Chunk &chunk, const OnlineSum &online,
                            Value &max, Value &sum) {
  enterChunk(b, work, chunk);
  Statement &s = *online.max;
  Value x = evaluator.widen(evaluator.evaluateStatement(s, s.position));
  Value next =
      combine(b, loc, s.combiner, max, reduceLanes(b, loc, s.combiner, x));
  evaluator.setRowValue(online.max, next);
  Value terms = evaluator.widen(
      evaluator.evaluateStatement(*online.sum, online.sum->position));
  evaluator.forgetRowValue(online.max);
  // The maximum grows in few chunks.
  Value grows =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, next, max);
  auto branch = scf::IfOp::create(
      b, loc, grows,
      [&](OpBuilder &then, Location) {
        scf::YieldOp::create(then, loc, rescale(then, sum, max, next));
      },
      [&](OpBuilder &other, Location) {
        scf::YieldOp::create(other, loc, sum);
      });
  sum = combine(b, loc, online.sum->combiner, branch.getResult(0), terms);
  max = next;
}

/// Emits the column loops of a phase, and with `online` those of the next, too.
void NestEmitter::emitPhase(OpBuilder &b, unsigned phase, Value rowIsValid,
                            std::optional<OnlineSum> online) {
  SmallVector<Statement *> statements;
  SmallVector<Value> results;
  Value max, sum; // of the thread
  for (const ColumnWork &work : schedule.phases[phase]) {
    enterPhase(b, phase);
    bool isOnline = online && llvm::is_contained(work.reductions, online->max);
    ColumnWork rest = work;
    if (isOnline)
      llvm::erase(rest.reductions, online->max);
    SmallVector<Value> values;
    for (Statement *s : rest.reductions)
      values.push_back(getNeutral(b, loc, s->combiner,
                                  withLanes(getSumType(*s), work.lanes)));
    if (isOnline) {
      values.push_back(getLowest(b, loc, getSumType(*online->max)));
      values.push_back(
          getNeutral(b, loc, online->sum->combiner,
                     withLanes(getSumType(*online->sum), work.lanes)));
    }
    size_t numPlain = rest.reductions.size();
    forEachChunk(
        b, work, values,
        [&](OpBuilder &inner, const Chunk &chunk, unsigned part) {
          if (!isOnline)
            return emitChunk(inner, work, chunk, rowIsValid, values, part);
          addOnline(inner, work, chunk, *online, values[numPlain],
                    values[numPlain + 1]);
          emitChunk(inner, rest, chunk, rowIsValid,
                    MutableArrayRef(values).take_front(numPlain), part);
        });
    if (isOnline) {
      sum = values.pop_back_val();
      max = values.back();
      rest.reductions.push_back(online->max);
    }
    llvm::append_range(statements, rest.reductions);
    llvm::append_range(results, values);
  }
  if (!statements.empty()) {
    enterPhase(b, phase);
    finishReductions(b, statements, results, rowIsValid);
  }
  if (online) {
    auto *at = llvm::find(statements, online->max);
    Value total = results[std::distance(statements.begin(), at)];
    sum = reduceLanes(b, loc, online->sum->combiner, sum);
    sum = rescale(b, sum, max, total);
    finishReductions(b, {online->sum}, sum, rowIsValid);
  }
  if (needsBarrier(phase))
    code.barrier(b);
}

//===----------------------------------------------------------------------===//
// Sums over rows
//===----------------------------------------------------------------------===//

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

/// Elements of a slice's sums.
int64_t NestEmitter::sizeOf(const RowSum &sum) const {
  return getWrittenType(*sum.statement).getNumElements();
}

/// Where the sums of a slice begin in their buffer.
Value NestEmitter::startOf(OpBuilder &b, const RowSum &sum, Value slice) {
  if (schedule.slices == 1)
    return {};
  return code.multiply(b, slice, sizeOf(sum));
}

/// Stores the chunk's part of a slice's sums.
void NestEmitter::storeSum(OpBuilder &b, const RowSum &sum, Value slice,
                           Value x) {
  evaluator.store(x, sumBuffers.lookup(sum.statement),
                  getWrittenIndex(*sum.statement), startOf(b, sum, slice),
                  sizeOf(sum));
}

/// A thread alone has the columns of its chunks.
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

/// Stores what the thread, or the team if it is a total, has summed.
/// `chunkNumbers` are the thread's chunks.
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
  // Also where there is an item for each thread: so the code for tensors of
  // different sizes is the same.
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
          // Rows in registers are read once anyway.
          std::optional<OnlineSum> online;
          if (schedule.unrolled == 0)
            online = findOnlineSum(plan, schedule, phase);
          emitPhase(row, phase, rowIsValid, online);
          phase += online ? 1 : 0; // which is the sum alone, without stores
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
