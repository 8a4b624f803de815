//===- NestChunks.cpp - the column loops of a nest ------------------------===//
//
// Emits a phase of a row: chunks of columns, and reductions of the row, which
// the threads of a team combine.
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dtc;

/// Enters a chunk. Returns its first column.
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

/// Computes the statements of the work at a chunk: adds to reductions of the
/// row and to sums over rows, and stores. Stores come last, because a result
/// may overwrite an operand. `part` counts the thread's chunks.
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

/// Calls the body for each chunk of a row that the thread has.
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
  // Totals over rows are loop-carried, too.
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

/// Combines the values of a team's threads and registers the result for the
/// row.
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

/// Whether a later phase may read at another column what this one stores.
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

/// The maximum of no elements. It is finite, so that subtracting it from minus
/// infinity is defined. A row of minus infinities then has the sum zero, and
/// dividing by it gives NaN, as with an infinite maximum.
static Value getLowest(OpBuilder &b, Location loc, Type type) {
  auto lowest = APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(),
                                    /*Negative=*/true);
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, lowest));
}

/// Converts a sum of exp(x - from) to the sum of exp(x - to).
Value NestEmitter::rescale(OpBuilder &b, Value sum, Value from, Value to) {
  Value factor =
      math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, from, to));
  if (auto type = dyn_cast<VectorType>(sum.getType()))
    factor = vector::BroadcastOp::create(b, loc, type, factor);
  return arith::MulFOp::create(b, loc, sum, factor);
}

/// Adds a chunk to the running maximum, a scalar, and to the sum of
/// exponentials relative to it.
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

/// Emits the column loops of a phase, with `online` also those of the next.
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
