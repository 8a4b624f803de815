//===- RowLoopsEmit.cpp - loops over rows and columns ---------------------===//
//
// Emits each nest of a plan: loops over rows, and in them the column loops of
// the phases, with several independent accumulators for reductions. Around
// these is a loop over the parts of a nest, if threads are to share it.
//
//===----------------------------------------------------------------------===//

#include "RowLoopsEmit.h"
#include "NestDivision.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "dtc/Lowering/RowLoops/Evaluate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dtc;

namespace {

/// A reduction inside a column loop.
struct ColumnReduction {
  Statement *statement;
  Type type; ///< of accumulators
  /// Independent accumulators, as many as the loop is unrolled.
  SmallVector<Value> vectors;
  Value scalar; ///< of columns that do not fill a vector
};

/// The column loops of one phase that have the same range.
struct ColumnLoop {
  int64_t columns;
  SmallVector<Statement *> stores, accumulations;
  SmallVector<ColumnReduction> reductions;
  SmallVector<Statement *> temporaries;
};

class NestEmitter {
public:
  NestEmitter(Location loc, const RowLoopsPlan &plan, unsigned index,
              const KernelArguments &arguments, ScratchLayout &layout,
              unsigned lanes, int64_t leastWork)
      : loc(loc), nest(plan.getNests()[index]), arguments(arguments),
        layout(layout), lanes(lanes), leastWork(leastWork),
        division(NestDivision::choose(nest, lanes, leastWork)),
        evaluator(loc, plan, nest, index, arguments.buffers) {}

  void emit(OpBuilder &builder);

private:
  /// Buffers in scratch, one for each part of the nest.
  struct PartBuffer {
    Type element;
    int64_t size, offset;
  };
  PartBuffer allocate(Type element, int64_t size);
  Value view(OpBuilder &b, const PartBuffer &buffer, Value part) const;

  void emitFlatLoop(OpBuilder &b, int64_t size, bool isOfPart,
                    function_ref<void(OpBuilder &, Value, int64_t)> body);
  bool isSummedInScratch(Statement *root) const;
  void allocateAccumulators();
  void prepareAccumulators(OpBuilder &b, Value part);
  void finishAccumulators(OpBuilder &b);
  void setTemporaries(OpBuilder &b, Value part);
  void emitLoops(OpBuilder &b);
  void emitParts(OpBuilder &b);
  void emitRow(OpBuilder b, ValueRange rowLoops);
  std::vector<ColumnLoop> getColumnLoops(unsigned phase);
  void emitColumnLoop(OpBuilder &b, ColumnLoop &loop);
  void emitDividedColumns(OpBuilder &b, ColumnLoop &loop);
  void emitChunk(OpBuilder &b, ColumnLoop &loop, Value column, int64_t width,
                 unsigned accumulator);
  void startReductions(OpBuilder &b, ColumnLoop &loop, unsigned unroll);
  void emitVectors(OpBuilder &b, ColumnLoop &loop, Value from, Value to,
                   unsigned unroll);
  void accumulate(ColumnReduction &reduction, OpBuilder &b, Value x,
                  int64_t width, unsigned accumulator);
  void finishReduction(OpBuilder &b, ColumnReduction &reduction);
  void addToMemory(OpBuilder &b, Statement &statement, Value value);
  void scatter(Statement &statement);

  Location loc;
  const Nest &nest;
  const KernelArguments &arguments;
  ScratchLayout &layout;
  unsigned lanes;
  int64_t leastWork;
  NestDivision division;
  Evaluator evaluator;
  /// Where the sums of an accumulation are kept during the nest, and those that
  /// lie in scratch.
  DenseMap<Statement *, Value> accumulators;
  llvm::MapVector<Statement *, PartBuffer> ownSums;
  llvm::MapVector<Statement *, PartBuffer> temporaries;
  /// Of the part that is emitted: iterations of the row loop or the columns
  /// that are divided.
  Value begin, end;
  /// Only what columns leave that do not fill a vector.
  bool isTail = false;
};

} // namespace

static Value getIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// number * count / parts, times `unit`.
static Value getBound(OpBuilder &b, Location loc, Value number, int64_t count,
                      int64_t parts, int64_t unit) {
  Value bound = arith::MulIOp::create(b, loc, number, getIndex(b, loc, count));
  bound = arith::DivUIOp::create(b, loc, bound, getIndex(b, loc, parts));
  return arith::MulIOp::create(b, loc, bound, getIndex(b, loc, unit));
}

/// A loop over parts of `count` times `unit`, which are independent of each
/// other. The body gets where a part begins and ends.
static void createParts(
    OpBuilder &b, Location loc, int64_t parts, int64_t work, int64_t count,
    int64_t unit,
    function_ref<void(OpBuilder &, Value part, Value begin, Value end)> body) {
  auto loop =
      scf::ParallelOp::create(b, loc, getIndex(b, loc, 0),
                              getIndex(b, loc, parts), getIndex(b, loc, 1));
  loop->setAttr(workAttrName, b.getI64IntegerAttr(work));
  Value part = loop.getInductionVars()[0];
  OpBuilder inner(loop.getBody()->getTerminator());
  Value next = arith::AddIOp::create(inner, loc, part, getIndex(inner, loc, 1));
  Value begin = getBound(inner, loc, part, count, parts, unit);
  body(inner, part, begin, getBound(inner, loc, next, count, parts, unit));
}

//===----------------------------------------------------------------------===//
// Accumulations over rows
//===----------------------------------------------------------------------===//

/// A loop over elements of flat buffers, `lanes` at a time, from `begin` to
/// `end`.
static void
emitVectorLoop(OpBuilder &b, Location loc, Value begin, Value end,
               int64_t lanes,
               function_ref<void(OpBuilder &, Value, int64_t)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, getIndex(b, loc, lanes));
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  body(inner, loop.getInductionVar(), lanes);
}

/// A loop over all elements of flat buffers, which threads may share unless it
/// belongs to a part.
void NestEmitter::emitFlatLoop(
    OpBuilder &b, int64_t size, bool isOfPart,
    function_ref<void(OpBuilder &, Value, int64_t)> body) {
  int64_t full = size / lanes * lanes;
  NestDivision flat = NestDivision::ofElements(size, lanes, leastWork);
  if (!isOfPart && flat.kind != NestDivision::None)
    createParts(b, loc, flat.parts, flat.work, size / lanes, lanes,
                [&](OpBuilder &inner, Value, Value begin, Value end) {
                  emitVectorLoop(inner, loc, begin, end, lanes, body);
                });
  else if (full > 0)
    emitVectorLoop(b, loc, getIndex(b, loc, 0), getIndex(b, loc, full), lanes,
                   body);
  if (size > full)
    body(b, getIndex(b, loc, full), size - full);
}

NestEmitter::PartBuffer NestEmitter::allocate(Type element, int64_t size) {
  int64_t count = division.hasOwnMemory ? division.parts : 1;
  return {element, size, layout.add(element, size, count)};
}

/// The buffer of a part; without `part` there is one.
Value NestEmitter::view(OpBuilder &b, const PartBuffer &buffer,
                        Value part) const {
  Value offset = getIndex(b, loc, buffer.offset);
  if (part) {
    int64_t stride = ScratchLayout::getStride(buffer.element, buffer.size);
    Value distance =
        arith::MulIOp::create(b, loc, part, getIndex(b, loc, stride));
    offset = arith::AddIOp::create(b, loc, offset, distance);
  }
  return arguments.viewScratch(b, loc, buffer.element, buffer.size, offset);
}

/// Sums over rows are as long as there are rows, and not in vector lanes:
/// those of single precision are kept in double precision. Parts that sum what
/// others do have sums of their own.
bool NestEmitter::isSummedInScratch(Statement *root) const {
  if (root->kind == StatementKind::RowReduction) // of the only row
    return division.kind == NestDivision::Columns && division.hasOwnMemory;
  return root->kind == StatementKind::Accumulation &&
         (isSinglePrecisionSum(*root) || division.hasOwnMemory);
}

void NestEmitter::allocateAccumulators() {
  for (Statement *root : nest.roots) {
    if (!isSummedInScratch(root))
      continue;
    RankedTensorType type = getWrittenType(*root);
    Type element = isSinglePrecisionSum(*root)
                       ? Float64Type::get(type.getContext())
                       : type.getElementType();
    ownSums[root] = allocate(element, type.getNumElements());
  }
}

/// Sets accumulators to their start: those of a part, or of the whole nest.
void NestEmitter::prepareAccumulators(OpBuilder &b, Value part) {
  for (Statement *root : nest.roots) {
    bool isScatter = root->kind == StatementKind::Scatter;
    auto own = ownSums.find(root);
    if (root->kind != StatementKind::Accumulation && !isScatter &&
        own == ownSums.end())
      continue;
    Value memref = own == ownSums.end() ? evaluator.getBuffer(*root)
                                        : view(b, own->second, part);
    Type element = cast<MemRefType>(memref.getType()).getElementType();
    accumulators[root] = memref;
    emitFlatLoop(b, getWrittenType(*root).getNumElements(),
                 /*isOfPart=*/part != nullptr,
                 [&](OpBuilder &inner, Value index, int64_t width) {
                   auto vector = VectorType::get(width, element);
                   Value start =
                       isScatter
                           ? arith::ConstantOp::create(
                                 inner, loc, inner.getZeroAttr(vector))
                                 .getResult()
                           : getNeutral(inner, loc, root->combiner, vector);
                   vector::StoreOp::create(inner, loc, start, memref, index);
                 });
  }
}

/// Combines the sums of parts in their order, and rounds them.
void NestEmitter::finishAccumulators(OpBuilder &b) {
  for (Statement *root : nest.roots) {
    auto own = ownSums.find(root);
    if (own == ownSums.end())
      continue;
    Value to = evaluator.getBuffer(*root);
    RankedTensorType type = getWrittenType(*root);
    auto load = [&](OpBuilder &at, Value part, Value index, int64_t width) {
      auto vector = VectorType::get(width, own->second.element);
      Value memref = view(at, own->second, part);
      return vector::LoadOp::create(at, loc, vector, memref, index);
    };
    emitFlatLoop(
        b, type.getNumElements(), /*isOfPart=*/false,
        [&](OpBuilder &inner, Value index, int64_t width) {
          Value sum = load(inner, Value(), index, width);
          if (division.hasOwnMemory) {
            auto loop = scf::ForOp::create(inner, loc, getIndex(inner, loc, 1),
                                           getIndex(inner, loc, division.parts),
                                           getIndex(inner, loc, 1), sum);
            OpBuilder body = OpBuilder::atBlockBegin(loop.getBody());
            Value next = load(body, loop.getInductionVar(), index, width);
            scf::YieldOp::create(body, loc,
                                 combine(body, loc, root->combiner,
                                         loop.getRegionIterArg(0), next));
            sum = loop.getResult(0);
          }
          vector::StoreOp::create(
              inner, loc, castFloat(inner, loc, sum, type.getElementType()), to,
              index);
        });
  }
}

/// Combines a value with where it is accumulated, at the current columns.
void NestEmitter::addToMemory(OpBuilder &b, Statement &statement, Value value) {
  Value memref = accumulators.lookup(&statement);
  FlatIndex index = getWrittenIndex(statement);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  value = evaluator.widen(castFloat(b, loc, value, element));
  Value before = evaluator.load(memref, index);
  evaluator.store(combine(b, loc, statement.combiner, before, value), memref,
                  index);
}

/// Adds the updates of a row to the row of the table that data choose.
void NestEmitter::scatter(Statement &statement) {
  const TensorRead &updates = statement.inputs[0],
                   &indices = statement.inputs[1];
  Value value = evaluator.evaluate(updates.tensor,
                                   updates.map.compose(statement.position));
  Value row = evaluator.evaluate(indices.tensor,
                                 indices.map.compose(statement.position));
  int64_t batchDims = cast<ScatterAddOp>(statement.op).getBatchDims();
  ArrayRef<int64_t> shape = getWrittenType(statement).getShape();
  evaluator.addScattered(
      accumulators.lookup(&statement), value, row, getWrittenIndex(statement),
      ShapedType::getNumElements(shape.drop_front(batchDims + 1)));
}

//===----------------------------------------------------------------------===//
// Column loops
//===----------------------------------------------------------------------===//

/// Whether a nest does nothing but join arguments.
static bool isPureConcat(const Nest &nest) {
  return llvm::all_of(nest.roots, [](const Statement *root) {
    return root->isPart && isa<BlockArgument>(root->inputs.front().tensor);
  });
}

std::vector<ColumnLoop> NestEmitter::getColumnLoops(unsigned phase) {
  // Parts that begin at multiples of a page, such as all positions of a
  // sequence, would take each other's lines from the cache.
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

void NestEmitter::accumulate(ColumnReduction &reduction, OpBuilder &b, Value x,
                             int64_t width, unsigned accumulator) {
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

/// Computes and stores what the loop is for, at `width` columns. Stores come
/// last: a result may overwrite an operand.
void NestEmitter::emitChunk(OpBuilder &b, ColumnLoop &loop, Value column,
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

/// A loop over whole vectors of the columns, `unroll` at a time.
void NestEmitter::emitVectors(OpBuilder &b, ColumnLoop &loop, Value from,
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
void NestEmitter::finishReduction(OpBuilder &b, ColumnReduction &reduction) {
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

void NestEmitter::startReductions(OpBuilder &b, ColumnLoop &loop,
                                  unsigned unroll) {
  for (ColumnReduction &reduction : loop.reductions) {
    auto type = VectorType::get(lanes, reduction.type);
    Value neutral = getNeutral(b, loc, reduction.statement->combiner, type);
    reduction.vectors.assign(unroll, neutral);
  }
}

void NestEmitter::emitColumnLoop(OpBuilder &b, ColumnLoop &loop) {
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

/// The vectors of a part, or what follows the last of them.
void NestEmitter::emitDividedColumns(OpBuilder &b, ColumnLoop &loop) {
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

void NestEmitter::emitRow(OpBuilder b, ValueRange rowLoops) {
  evaluator.enterRow(rowLoops);
  for (unsigned phase = 0; phase < nest.numPhases; ++phase)
    for (ColumnLoop &loop : getColumnLoops(phase)) {
      // Values of the row are computed before this op.
      Value anchor = getIndex(b, loc, 0);
      evaluator.enterPhase(phase, OpBuilder(anchor.getDefiningOp()));
      emitColumnLoop(b, loop);
    }
}

/// The loops over rows, of a part or of the whole nest.
void NestEmitter::emitLoops(OpBuilder &b) {
  Value zero = getIndex(b, loc, 0);
  evaluator.enterNest(OpBuilder(zero.getDefiningOp()));
  OpBuilder inner = b;
  SmallVector<Value> rowLoops;
  for (auto [number, range] : llvm::enumerate(nest.rows)) {
    if (range == 1) {
      rowLoops.push_back(zero);
      continue;
    }
    bool isDivided =
        division.kind == NestDivision::Rows && number == division.rowLoop;
    auto loop = scf::ForOp::create(
        inner, loc, isDivided ? begin : getIndex(inner, loc, 0),
        isDivided ? end : getIndex(inner, loc, range), getIndex(inner, loc, 1));
    rowLoops.push_back(loop.getInductionVar());
    inner.setInsertionPoint(loop.getBody()->getTerminator());
  }
  emitRow(inner, rowLoops);
}

void NestEmitter::emitParts(OpBuilder &b) {
  bool byRows = division.kind == NestDivision::Rows;
  int64_t columns = nest.roots[0]->columns, unit = byRows ? 1 : lanes;
  createParts(b, loc, division.parts, division.work,
              byRows ? nest.rows[division.rowLoop] : columns / lanes, unit,
              [&](OpBuilder &inner, Value part, Value from, Value to) {
                begin = from;
                end = to;
                setTemporaries(inner, byRows ? part : Value());
                if (division.hasOwnMemory)
                  prepareAccumulators(inner, part);
                emitLoops(inner);
              });
  if (!byRows && columns % lanes) {
    isTail = true;
    for (auto &[root, buffer] : ownSums) // adds to those of the first part
      accumulators[root] = view(b, buffer, Value());
    emitLoops(b);
  }
}

void NestEmitter::setTemporaries(OpBuilder &b, Value part) {
  for (auto &[statement, buffer] : temporaries)
    evaluator.setTemporary(statement, view(b, buffer, part));
}

void NestEmitter::emit(OpBuilder &b) {
  allocateAccumulators();
  for (auto &[statement, temporary] : nest.temporaries)
    temporaries.insert(
        {statement, allocate(getMemoryType(getWrittenType(*statement)),
                             temporary.columns)});
  if (!division.hasOwnMemory)
    prepareAccumulators(b, Value());
  if (division.kind == NestDivision::None) {
    setTemporaries(b, Value());
    emitLoops(b);
  } else {
    emitParts(b);
  }
  finishAccumulators(b);
}

void dtc::emitRowLoops(OpBuilder &builder, Location loc,
                       const RowLoopsPlan &plan,
                       const KernelArguments &arguments, ScratchLayout &layout,
                       unsigned lanes, int64_t leastWork) {
  // Nests run one after the other: they share what they need.
  ScratchLayout most = layout;
  for (unsigned nest = 0; nest < plan.getNests().size(); ++nest) {
    ScratchLayout own = layout;
    NestEmitter(loc, plan, nest, arguments, own, lanes, leastWork)
        .emit(builder);
    if (own.getBytes() > most.getBytes())
      most = own;
  }
  layout = most;
}
