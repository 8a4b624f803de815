//===- RowLoopsEmit.cpp - loops over rows ---------------------------------===//
//
// Emits the rows of a nest, or of its parts, which threads share.
//
//===----------------------------------------------------------------------===//

#include "RowLoopsEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

void RowLoopsEmitter::emitRow(OpBuilder b, ValueRange rowLoops) {
  evaluator.enterRow(rowLoops);
  for (unsigned phase = 0; phase < nest.numPhases; ++phase)
    for (ColumnLoop &loop : getColumnLoops(phase)) {
      // Values of the row are computed before this op.
      Value anchor = getIndex(b, loc, 0);
      evaluator.enterPhase(phase, OpBuilder(anchor.getDefiningOp()));
      emitColumnLoop(b, loop);
    }
}

/// Emits the loops over the rows of a part or of the whole nest.
void RowLoopsEmitter::emitLoops(OpBuilder &b) {
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

void RowLoopsEmitter::emitParts(OpBuilder &b) {
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
    for (auto &[root, buffer] : ownSums) // adds to the sums of the first part
      accumulators[root] = view(b, buffer, Value());
    emitLoops(b);
  }
}

void RowLoopsEmitter::setTemporaries(OpBuilder &b, Value part) {
  for (auto &[statement, buffer] : temporaries)
    evaluator.setTemporary(statement, view(b, buffer, part));
}

void RowLoopsEmitter::emit(OpBuilder &b) {
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
  // Nests run one after another, so they share scratch.
  ScratchLayout most = layout;
  for (unsigned nest = 0; nest < plan.getNests().size(); ++nest) {
    ScratchLayout own = layout;
    RowLoopsEmitter(loc, plan, nest, arguments, own, lanes, leastWork)
        .emit(builder);
    if (own.getBytes() > most.getBytes())
      most = own;
  }
  layout = most;
}
