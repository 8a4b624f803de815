//===- SortPositions.cpp - positions sorted by target row -----------------===//
//
// Each thread has one position, and finds its place in the order by counting,
// in a number of steps that does not depend on the data. It compares with all
// other positions of its run, and does a binary search in every other run. The
// sort is stable, so the result is one permutation.
//
//===----------------------------------------------------------------------===//

#include "DeviceBuilder.h"
#include "NestEmit.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace dtc;
using arith::CmpIPredicate;

/// Chooses the length of runs so that steps within runs and between runs are
/// about equal in number.
SortShape::SortShape(int64_t tables, int64_t positions)
    : tables(tables), positions(positions) {
  constexpr int64_t mostAtOnce = 256;
  run = positions;
  if (positions > mostAtOnce)
    run = static_cast<int64_t>(llvm::PowerOf2Ceil(
        static_cast<uint64_t>(2 * std::sqrt(static_cast<double>(positions)))));
}

namespace {

/// The place of a position.
struct Place {
  Place(OpBuilder &b, const DeviceBuilder &code, const SortShape &shape,
        Value item)
      : ofTable(shape.tables == 1 ? item
                                  : code.remainder(b, item, shape.positions)),
        run(code.divide(b, ofTable, shape.run)),
        ofRun(code.remainder(b, ofTable, shape.run)),
        table(b.createOrFold<arith::SubIOp>(code.loc, item, ofTable)) {}

  Value ofTable, run, ofRun; ///< index in the table, run, index in the run
  Value table;               ///< the first position of the table
};

} // namespace

/// The number of positions of a run.
static Value getLength(OpBuilder &b, const DeviceBuilder &code,
                       const SortShape &shape, Value run) {
  Value full = code.index(b, shape.run);
  if (shape.positions % shape.run == 0)
    return full;
  Value left =
      arith::SubIOp::create(b, code.loc, code.index(b, shape.positions),
                            code.multiply(b, run, shape.run));
  return arith::MinUIOp::create(b, code.loc, left, full);
}

/// The bound such that rows below it come before a position of `row`: equal
/// rows come before it if `isBefore`.
static Value getBound(OpBuilder &b, const DeviceBuilder &code, Value isBefore,
                      Value row) {
  return code.select(b, isBefore, code.add(b, row, 1), row);
}

/// Loads consecutive integers from a position that is a multiple of their
/// number.
static SmallVector<Value> loadIndices(OpBuilder &b, const DeviceBuilder &code,
                                      Value memref, Value at, int64_t count) {
  if (count == 1)
    return {code.loadIndex(b, memref, at)};
  auto type = cast<MemRefType>(memref.getType());
  auto words = vector::LoadOp::create(
      b, code.loc, VectorType::get(count, type.getElementType()), memref, at,
      /*nontemporal=*/false,
      llvm::MaybeAlign(count * type.getElementTypeBitWidth() / 8));
  SmallVector<Value> numbers;
  for (int64_t lane = 0; lane < count; ++lane)
    numbers.push_back(arith::IndexCastOp::create(
        b, code.loc, b.getIndexType(),
        vector::ExtractOp::create(b, code.loc, words, lane)));
  return numbers;
}

void dtc::emitSortOfRuns(OpBuilder &b, gpu::GPUFuncOp function,
                         const SortShape &shape, Value rows, Value sortedRows,
                         Value sortedPositions, int64_t threads) {
  Location loc = function.getLoc();
  DeviceBuilder code{loc, function};
  // Runs begin at multiples of these numbers.
  int64_t lanes = std::gcd(std::gcd<int64_t>(4, shape.run), shape.positions);
  code.forItem(
      b, threads, shape.tables * shape.positions,
      [&](OpBuilder &b, Value item) {
        Place place(b, code, shape, item);
        Value begin = arith::SubIOp::create(b, loc, item, place.ofRun);
        Value row = code.loadIndex(b, rows, item);
        auto loop = scf::ForOp::create(b, loc, code.index(b, 0),
                                       getLength(b, code, shape, place.run),
                                       code.index(b, lanes), code.index(b, 0));
        OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
        Value first = loop.getInductionVar(), count = loop.getRegionIterArg(0);
        SmallVector<Value> others = loadIndices(
            inner, code, rows, code.add(inner, begin, first), lanes);
        for (auto [lane, other] : llvm::enumerate(others)) {
          Value isBefore =
              code.compare(inner, CmpIPredicate::ult,
                           code.add(inner, first, lane), place.ofRun);
          Value comesFirst = code.compare(inner, CmpIPredicate::ult, other,
                                          getBound(inner, code, isBefore, row));
          count =
              code.select(inner, comesFirst, code.add(inner, count, 1), count);
        }
        scf::YieldOp::create(inner, loc, count);
        Value at = code.add(b, begin, loop.getResult(0));
        code.storeIndex(b, row, sortedRows, at);
        code.storeIndex(b, item, sortedPositions, at);
      });
}

/// The number of rows below `bound` among `length` sorted rows, by binary
/// search.
static Value countBelow(OpBuilder &b, const DeviceBuilder &code, Value rows,
                        Value begin, Value length, int64_t most, Value bound) {
  Value count = code.index(b, 0);
  for (int64_t step = most; step > 0; step /= 2) {
    Value next = code.add(b, count, step);
    Value exists = code.compare(b, CmpIPredicate::ule, next, length);
    Value at = code.orZero(b, exists, code.add(b, count, step - 1));
    Value isBelow =
        code.compare(b, CmpIPredicate::ult,
                     code.loadIndex(b, rows, code.add(b, begin, at)), bound);
    count = code.select(b, code.both(b, exists, isBelow), next, count);
  }
  return count;
}

void dtc::emitMergeOfRuns(OpBuilder &b, gpu::GPUFuncOp function,
                          const SortShape &shape, Value runRows,
                          Value runPositions, Value sortedRows,
                          Value sortedPositions, int64_t threads) {
  Location loc = function.getLoc();
  DeviceBuilder code{loc, function};
  code.forItem(
      b, threads, shape.tables * shape.positions,
      [&](OpBuilder &b, Value item) {
        Place place(b, code, shape, item);
        Value row = code.loadIndex(b, runRows, item);
        auto loop = scf::ForOp::create(b, loc, code.index(b, 0),
                                       code.index(b, shape.countRuns()),
                                       code.index(b, 1), code.index(b, 0));
        OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
        Value run = loop.getInductionVar();
        Value isBefore =
            code.compare(inner, CmpIPredicate::ult, run, place.run);
        Value count = countBelow(
            inner, code, runRows,
            code.add(inner, place.table, code.multiply(inner, run, shape.run)),
            getLength(inner, code, shape, run), shape.run,
            getBound(inner, code, isBefore, row));
        Value isOwn = code.compare(inner, CmpIPredicate::eq, run, place.run);
        count = code.select(inner, isOwn, place.ofRun, count);
        scf::YieldOp::create(inner, loc,
                             code.add(inner, loop.getRegionIterArg(0), count));
        Value at = code.add(b, place.table, loop.getResult(0));
        code.storeIndex(b, row, sortedRows, at);
        code.storeIndex(b, code.loadIndex(b, runPositions, item),
                        sortedPositions, at);
      });
}
