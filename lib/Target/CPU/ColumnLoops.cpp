//===- ColumnLoops.cpp - loops over the columns of a row ------------------===//
//
// Loops first compute whole vectors, several per iteration, then the remaining
// columns.
//
//===----------------------------------------------------------------------===//

#include "RowLoopsEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

/// Whether a nest only concatenates arguments.
static bool isPureConcat(const Nest &nest) {
  return llvm::all_of(nest.roots, [](const Statement *root) {
    return root->isPart && isa<BlockArgument>(root->inputs.front().tensor);
  });
}

std::vector<ColumnLoop> RowLoopsEmitter::getColumnLoops(unsigned phase) {
  // Parts of a concatenation can begin at multiples of a page, such as the
  // positions of a sequence. Then more streams would evict each other from the
  // cache.
  size_t mostStores = isPureConcat(nest) ? 4 : nest.roots.size();
  std::vector<ColumnLoop> loops;
  auto getLoop = [&](int64_t columns) -> ColumnLoop & {
    for (ColumnLoop &loop : loops)
      if (loop.columns == columns && loop.stores.size() < mostStores)
        return loop;
    loops.emplace_back().columns = columns;
    return loops.back();
  };
  // Long rows are summed in double precision.
  constexpr int64_t longRow = 4096;
  for (Statement *root : nest.roots) {
    if (root->phase != phase)
      continue;
    ColumnLoop &loop = getLoop(root->columns);
    switch (root->kind) {
    case StatementKind::Map:
      loop.stores.push_back(root);
      break;
    case StatementKind::Scatter:
      loop.accumulations.push_back(root);
      break;
    case StatementKind::Accumulation:
      if (getWrittenIndex(*root).coefficients.back() != 0) {
        loop.accumulations.push_back(root);
        break;
      }
      [[fallthrough]];
    case StatementKind::RowReduction: {
      Type type = getWrittenType(*root).getElementType();
      if (isSinglePrecisionSum(*root) && root->columns > longRow)
        type = Float64Type::get(type.getContext());
      loop.reductions.push_back({root, type, {}, {}});
      break;
    }
    }
  }
  for (auto &[statement, temporary] : nest.temporaries)
    if (temporary.phase == phase)
      getLoop(temporary.columns).temporaries.push_back(statement);
  return loops;
}

void RowLoopsEmitter::accumulate(ColumnReduction &reduction, OpBuilder &b,
                                 Value x, int64_t width, unsigned accumulator) {
  x = castFloat(b, loc, x, reduction.type);
  Operation *combiner = reduction.statement->combiner;
  if (width == lanes) {
    reduction.vectors[accumulator] =
        combine(b, loc, combiner, reduction.vectors[accumulator], x);
    return;
  }
  x = reduceLanes(b, loc, combiner, x);
  reduction.scalar =
      reduction.scalar ? combine(b, loc, combiner, reduction.scalar, x) : x;
}

/// Computes and stores the statements of the loop at `width` columns. Stores
/// come last, because a result may overwrite an operand.
void RowLoopsEmitter::emitChunk(OpBuilder &b, ColumnLoop &loop, Value column,
                                int64_t width, unsigned accumulator) {
  evaluator.enterChunk(b, column, width);
  SmallVector<Value> stored, kept;
  for (Statement *s : loop.stores)
    stored.push_back(s->isFunction() && s->result
                         ? evaluator.evaluate(s->result, s->position)
                         : evaluator.evaluateStatement(*s, s->position));
  for (Statement *s : loop.temporaries) {
    AffineMap position = nest.temporaries.find(s)->second.position;
    kept.push_back(evaluator.evaluate(s->result, position));
  }
  for (ColumnReduction &reduction : loop.reductions) {
    Statement &s = *reduction.statement;
    Value x = evaluator.widen(evaluator.evaluateStatement(s, s.position));
    accumulate(reduction, b, x, width, accumulator);
  }
  for (Statement *s : loop.accumulations) {
    if (s->kind == StatementKind::Scatter)
      scatter(*s);
    else
      addToMemory(b, *s, evaluator.evaluateStatement(*s, s->position));
  }
  for (auto [s, value] : llvm::zip(loop.stores, stored))
    evaluator.store(value, evaluator.getBuffer(*s), getWrittenIndex(*s));
  for (auto [s, value] : llvm::zip(loop.temporaries, kept))
    evaluator.store(value, evaluator.getTemporary(s),
                    evaluator.getColumnIndex());
}

/// Emits a loop over whole vectors of the columns, `unroll` per iteration.
void RowLoopsEmitter::emitVectors(OpBuilder &b, ColumnLoop &loop, Value from,
                                  Value to, unsigned unroll) {
  int64_t step = static_cast<int64_t>(lanes) * unroll;
  SmallVector<Value> inits;
  for (ColumnReduction &reduction : loop.reductions)
    llvm::append_range(inits, ArrayRef(reduction.vectors).take_front(unroll));
  auto forOp =
      scf::ForOp::create(b, loc, from, to, getIndex(b, loc, step), inits);
  OpBuilder inner = OpBuilder::atBlockBegin(forOp.getBody());
  auto exchange = [&](ValueRange values) {
    for (ColumnReduction &reduction : loop.reductions) {
      llvm::copy(values.take_front(unroll), reduction.vectors.begin());
      values = values.drop_front(unroll);
    }
  };
  exchange(forOp.getRegionIterArgs());
  for (unsigned i = 0; i < unroll; ++i) {
    Value column = forOp.getInductionVar();
    if (i > 0)
      column = arith::AddIOp::create(inner, loc, column,
                                     getIndex(inner, loc, i * lanes));
    emitChunk(inner, loop, column, lanes, i);
  }
  if (!inits.empty()) {
    SmallVector<Value> results;
    for (ColumnReduction &reduction : loop.reductions)
      llvm::append_range(results,
                         ArrayRef(reduction.vectors).take_front(unroll));
    scf::YieldOp::create(inner, loc, results);
  }
  exchange(forOp.getResults());
}

/// Combines accumulators pairwise, then the lanes of the last one.
void RowLoopsEmitter::finishReduction(OpBuilder &b,
                                      ColumnReduction &reduction) {
  Operation *combiner = reduction.statement->combiner;
  SmallVector<Value> &vectors = reduction.vectors;
  Value result = reduction.scalar;
  if (!vectors.empty()) {
    for (size_t half = vectors.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i)
        vectors[i] = combine(b, loc, combiner, vectors[i], vectors[i + half]);
    Value total = reduceLanes(b, loc, combiner, vectors[0]);
    result = result ? combine(b, loc, combiner, total, result) : total;
  }
  Statement &s = *reduction.statement;
  evaluator.enterChunk(b, getIndex(b, loc, 0), 1);
  if (accumulators.contains(&s)) {
    addToMemory(b, s, result);
    return;
  }
  result = castFloat(b, loc, result, getWrittenType(s).getElementType());
  evaluator.setRowValue(&s, result);
  if (s.isStored)
    evaluator.store(result, evaluator.getBuffer(s), getWrittenIndex(s));
}

/// Enough independent accumulators to hide the latency of an addition.
static constexpr unsigned mostAccumulators = 4;

void RowLoopsEmitter::startReductions(OpBuilder &b, ColumnLoop &loop,
                                      unsigned unroll) {
  for (ColumnReduction &reduction : loop.reductions) {
    auto type = VectorType::get(lanes, reduction.type);
    Value neutral = getNeutral(b, loc, reduction.statement->combiner, type);
    reduction.vectors.assign(unroll, neutral);
  }
}

void RowLoopsEmitter::emitColumnLoop(OpBuilder &b, ColumnLoop &loop) {
  if (division.kind == NestDivision::Columns)
    return emitDividedColumns(b, loop);
  int64_t full = loop.columns / lanes * lanes;
  unsigned unroll = 1;
  if (!loop.reductions.empty())
    while (unroll < mostAccumulators && full >= 2 * unroll * int64_t(lanes))
      unroll *= 2;
  if (full > 0)
    startReductions(b, loop, unroll);
  int64_t step = static_cast<int64_t>(lanes) * unroll;
  int64_t unrolled = full / step * step;
  if (unrolled > 0)
    emitVectors(b, loop, getIndex(b, loc, 0), getIndex(b, loc, unrolled),
                unroll);
  if (full > unrolled)
    emitVectors(b, loop, getIndex(b, loc, unrolled), getIndex(b, loc, full), 1);
  if (loop.columns > full)
    emitChunk(b, loop, getIndex(b, loc, full), loop.columns - full, 0);
  for (ColumnReduction &reduction : loop.reductions)
    finishReduction(b, reduction);
}

/// Emits the vectors of a part. The last part also computes the columns after
/// them.
void RowLoopsEmitter::emitDividedColumns(OpBuilder &b, ColumnLoop &loop) {
  int64_t full = loop.columns / lanes * lanes;
  if (isTail) {
    emitChunk(b, loop, getIndex(b, loc, full), loop.columns - full, 0);
  } else if (loop.reductions.empty()) {
    emitVectors(b, loop, begin, end, 1);
  } else {
    startReductions(b, loop, mostAccumulators);
    int64_t step = static_cast<int64_t>(lanes) * mostAccumulators;
    Value rest = arith::RemUIOp::create(
        b, loc, arith::SubIOp::create(b, loc, end, begin),
        getIndex(b, loc, step));
    Value unrolled = arith::SubIOp::create(b, loc, end, rest);
    emitVectors(b, loop, begin, unrolled, mostAccumulators);
    emitVectors(b, loop, unrolled, end, 1);
  }
  for (ColumnReduction &reduction : loop.reductions)
    finishReduction(b, reduction);
}
