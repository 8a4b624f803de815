//===- ScatterEmit.cpp - additions at positions that are data -------------===//
//
// A warp for each row of updates. The warp of the first row that goes to a row
// of the table collects all rows that do, in their order; others have nothing
// to do. The table was zeroed before. So the order of additions is fixed, and
// nothing is atomic.
//
//===----------------------------------------------------------------------===//

#include "DeviceBuilder.h"
#include "NestEmit.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/Combine.h"
#include "dtc/Lowering/RowLoopsEvaluate.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dtc;

ScatterShape::ScatterShape(const Statement &statement) {
  auto op = cast<ScatterAddOp>(statement.op);
  int64_t indexRank = op.getIndices().getType().getRank();
  ArrayRef<int64_t> ranges = statement.ranges;
  batches = llvm::product_of(ranges.take_front(op.getBatchDims()));
  positions = llvm::product_of(
      ranges.take_front(indexRank).drop_front(op.getBatchDims()));
  rowElements = llvm::product_of(ranges.drop_front(indexRank));
  bool hasColumns = indexRank < static_cast<int64_t>(ranges.size());
  lanes = hasColumns ? std::gcd<int64_t>(4, ranges.back()) : 1;
  chunksOfLane =
      std::min<int64_t>(8, llvm::divideCeil(rowElements / lanes, warpSize));
  parts = llvm::divideCeil(rowElements / lanes, warpSize * chunksOfLane);
}

namespace {

class ScatterEmitter {
public:
  ScatterEmitter(OpBuilder &b, gpu::GPUFuncOp function,
                 const RowLoopsPlan &plan, unsigned nestIndex,
                 const NestSchedule &schedule, const KernelBuffers &buffers)
      : loc(function.getLoc()), nest(plan.getNests()[nestIndex]),
        statement(*nest.roots[0]), shape(statement), schedule(schedule),
        code{loc, function}, evaluator(loc, plan, nest, nestIndex, buffers),
        top(b) {}

  void emit();

private:
  Value evaluateAt(OpBuilder &b, const TensorRead &read, Value position,
                   Value chunk, int64_t width);
  Value getRow(OpBuilder &b, Value position);
  Value combineBits(OpBuilder &b, Value word);
  Value isEarlier(OpBuilder &b, Value position, Value first, Value row);
  SmallVector<Value> collect(OpBuilder &b, Value position, Value end,
                             Value row);

  Location loc;
  const Nest &nest;
  const Statement &statement;
  ScatterShape shape;
  const NestSchedule &schedule;
  DeviceBuilder code;
  Evaluator evaluator;
  OpBuilder &top;
  Value lane;
  SmallVector<Value> chunks; ///< of a row of updates, the lane's
};

} // namespace

/// An element of an operand at a row of updates, and at a chunk of it.
Value ScatterEmitter::evaluateAt(OpBuilder &b, const TensorRead &read,
                                 Value position, Value chunk, int64_t width) {
  ArrayRef<int64_t> ranges = statement.ranges;
  int64_t indexRank =
      cast<ScatterAddOp>(statement.op).getIndices().getType().getRank();
  SmallVector<Value> loops(nest.getNumLoops(), code.index(b, 0));
  Value element = code.multiply(b, chunk, width);
  for (int64_t loop = ranges.size(); loop-- > 0;) {
    Value &number = loop < indexRank ? position : element;
    loops[loop] = code.remainder(b, number, ranges[loop]);
    number = code.divide(b, number, ranges[loop]);
  }
  evaluator.enterRow(ArrayRef(loops).drop_back());
  Value anchor = code.index(b, 0);
  evaluator.enterPhase(0, OpBuilder(anchor.getDefiningOp()));
  evaluator.enterChunk(b, loops.back(), width);
  return evaluator.evaluate(read.tensor, read.map.compose(statement.position));
}

/// The table's row that a row of updates is added to.
Value ScatterEmitter::getRow(OpBuilder &b, Value position) {
  return evaluateAt(b, statement.inputs[1], position, code.index(b, 0), 1);
}

/// The bits of all lanes of the warp.
Value ScatterEmitter::combineBits(OpBuilder &b, Value word) {
  for (int64_t mask = warpSize / 2; mask > 0; mask /= 2)
    word = arith::OrIOp::create(b, loc, word, code.shuffle(b, word, mask));
  return word;
}

static Value isEqual(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}

static Value getWord(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

/// Not zero if a row from `first` to `position` goes to the same row.
Value ScatterEmitter::isEarlier(OpBuilder &b, Value position, Value first,
                                Value row) {
  auto loop = scf::ForOp::create(b, loc, code.add(b, first, lane), position,
                                 code.index(b, warpSize), getWord(b, loc, 0));
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  Value same = isEqual(inner, loc, getRow(inner, loop.getInductionVar()), row);
  Value word = arith::ExtUIOp::create(inner, loc, inner.getI32Type(), same);
  word = arith::OrIOp::create(inner, loc, word, loop.getRegionIterArg(0));
  scf::YieldOp::create(inner, loc, word);
  return combineBits(b, loop.getResult(0));
}

/// The sum of all rows of updates from `position` to `end` that go to a row of
/// the table: the lane's chunks of it.
SmallVector<Value> ScatterEmitter::collect(OpBuilder &b, Value position,
                                           Value end, Value row) {
  Type element = getWrittenType(statement).getElementType();
  Type type =
      shape.lanes == 1 ? element : VectorType::get(shape.lanes, element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  SmallVector<Value> zeros(shape.chunksOfLane, zero);
  auto loop =
      scf::ForOp::create(b, loc, position, end, code.index(b, warpSize), zeros);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  // A bit for each of the next 32 rows.
  Value base = loop.getInductionVar();
  Value own = code.add(inner, base, lane);
  Value exists =
      arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, own, end);
  own = arith::SelectOp::create(inner, loc, exists, own, base);
  Value same = arith::AndIOp::create(
      inner, loc, exists, isEqual(inner, loc, getRow(inner, own), row));
  Value bit = arith::ShLIOp::create(
      inner, loc, arith::ExtUIOp::create(inner, loc, inner.getI32Type(), same),
      arith::IndexCastOp::create(inner, loc, inner.getI32Type(), lane));
  Value bits = combineBits(inner, bit);

  SmallVector<Value> carried = {bits};
  llvm::append_range(carried, loop.getRegionIterArgs());
  auto whileOp = scf::WhileOp::create(
      inner, loc, ValueRange(carried).getTypes(), carried,
      [&](OpBuilder &before, Location, ValueRange values) {
        Value any = arith::CmpIOp::create(before, loc, arith::CmpIPredicate::ne,
                                          values[0], getWord(before, loc, 0));
        scf::ConditionOp::create(before, loc, any, values);
      },
      [&](OpBuilder &after, Location, ValueRange values) {
        Value lowest =
            math::CountTrailingZerosOp::create(after, loc, values[0]);
        Value from = code.add(after, base,
                              arith::IndexCastOp::create(
                                  after, loc, after.getIndexType(), lowest));
        Value fewer = arith::SubIOp::create(after, loc, values[0],
                                            getWord(after, loc, 1));
        SmallVector<Value> next = {
            arith::AndIOp::create(after, loc, values[0], fewer)};
        for (auto [sum, chunk] : llvm::zip(values.drop_front(), chunks)) {
          Value x =
              evaluateAt(after, statement.inputs[0], from, chunk, shape.lanes);
          next.push_back(
              arith::AddFOp::create(after, loc, sum, evaluator.widen(x)));
        }
        scf::YieldOp::create(after, loc, next);
      });
  scf::YieldOp::create(inner, loc, whileOp.getResults().drop_front());
  return llvm::to_vector_of<Value>(loop.getResults());
}

void ScatterEmitter::emit() {
  OpBuilder &b = top;
  Value anchor = code.index(b, 0);
  evaluator.enterNest(OpBuilder(anchor.getDefiningOp()));
  Value thread = code.threadId(b);
  lane = code.remainder(b, thread, warpSize);
  Value item =
      code.add(b, code.multiply(b, code.blockId(b), schedule.teamsPerBlock()),
               code.divide(b, thread, warpSize));
  Value isValid;
  if (schedule.blocks * schedule.teamsPerBlock() != schedule.items)
    isValid = code.isLess(b, item, schedule.items);
  code.onlyIf(b, isValid, [&](OpBuilder &warp) {
    Value position = code.divide(warp, item, shape.parts);
    Value batch = code.divide(warp, position, shape.positions);
    Value first = code.multiply(warp, batch, shape.positions);
    Value end = code.add(warp, first, shape.positions);
    Value start =
        code.add(warp,
                 code.multiply(warp, code.remainder(warp, item, shape.parts),
                               warpSize * shape.chunksOfLane),
                 lane);
    SmallVector<Value> chunkIsValid;
    int64_t rowChunks = shape.rowElements / shape.lanes;
    for (int64_t n = 0; n < shape.chunksOfLane; ++n) {
      Value chunk = code.add(warp, start, n * warpSize);
      Value exists;
      if (rowChunks != shape.parts * shape.chunksOfLane * warpSize) {
        exists = code.isLess(warp, chunk, rowChunks);
        chunk = code.orZero(warp, exists, chunk);
      }
      chunks.push_back(chunk);
      chunkIsValid.push_back(exists);
    }
    Value row = getRow(warp, position);
    Value earlier = isEarlier(warp, position, first, row);
    Value isFirst = isEqual(warp, loc, earlier, getWord(warp, loc, 0));
    code.onlyIf(warp, isFirst, [&](OpBuilder &leader) {
      SmallVector<Value> sums = collect(leader, position, end, row);
      Value memref = evaluator.getBuffer(statement);
      Value number =
          arith::IndexCastOp::create(leader, loc, leader.getIndexType(), row);
      int64_t rows = cast<MemRefType>(memref.getType()).getNumElements() /
                     shape.batches / shape.rowElements;
      number = code.add(leader, code.multiply(leader, batch, rows), number);
      Value begin = code.multiply(leader, number, shape.rowElements);
      for (auto [chunk, exists, sum] : llvm::zip(chunks, chunkIsValid, sums)) {
        Value at =
            code.add(leader, begin, code.multiply(leader, chunk, shape.lanes));
        code.onlyIf(leader, exists, [&, sum = sum](OpBuilder &store) {
          if (shape.lanes == 1)
            memref::StoreOp::create(store, loc, sum, memref, at);
          else
            vector::StoreOp::create(store, loc, sum, memref, at);
        });
      }
    });
  });
}

void dtc::emitScatter(OpBuilder &builder, gpu::GPUFuncOp function,
                      const RowLoopsPlan &plan, unsigned nestIndex,
                      const NestSchedule &schedule,
                      const KernelBuffers &buffers) {
  ScatterEmitter(builder, function, plan, nestIndex, schedule, buffers).emit();
}
