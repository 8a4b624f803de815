//===- RowLoopsEmitter.h - the code of a nest -------------------*- C++ -*-===//
//
// Emits loops over rows, and in them the column loops of each phase, with
// several independent accumulators for reductions. If threads share the nest, a
// loop over its parts is around these.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TARGET_CPU_ROWLOOPSEMITTER_H
#define DTC_LIB_TARGET_CPU_ROWLOOPSEMITTER_H

#include "NestDivision.h"
#include "RowLoopsEmit.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "dtc/Lowering/RowLoops/Evaluate.h"
#include "llvm/ADT/MapVector.h"

namespace dtc {

/// A reduction inside a column loop.
struct ColumnReduction {
  Statement *statement;
  mlir::Type type; ///< of the accumulators
  /// Independent accumulators, one for each vector of an unrolled iteration.
  llvm::SmallVector<mlir::Value> vectors;
  mlir::Value scalar; ///< for columns that do not fill a vector
};

/// The column loops of one phase that have the same range.
struct ColumnLoop {
  int64_t columns;
  llvm::SmallVector<Statement *> stores, accumulations;
  llvm::SmallVector<ColumnReduction> reductions;
  llvm::SmallVector<Statement *> temporaries;
};

class RowLoopsEmitter {
public:
  RowLoopsEmitter(mlir::Location loc, const RowLoopsPlan &plan, unsigned index,
                  const KernelArguments &arguments, ScratchLayout &layout,
                  unsigned lanes, int64_t leastWork)
      : loc(loc), nest(plan.getNests()[index]), arguments(arguments),
        layout(layout), lanes(lanes), leastWork(leastWork),
        division(NestDivision::choose(nest, lanes, leastWork)),
        evaluator(loc, plan, nest, index, arguments.buffers) {}

  void emit(mlir::OpBuilder &builder);

private:
  /// Buffers in scratch, one for each part of the nest.
  struct PartBuffer {
    mlir::Type element;
    int64_t size, offset;
  };
  PartBuffer allocate(mlir::Type element, int64_t size);
  mlir::Value view(mlir::OpBuilder &b, const PartBuffer &buffer,
                   mlir::Value part) const;

  void emitFlatLoop(
      mlir::OpBuilder &b, int64_t size, bool isOfPart,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, int64_t)> body);
  bool isSummedInScratch(Statement *root) const;
  void allocateAccumulators();
  void prepareAccumulators(mlir::OpBuilder &b, mlir::Value part);
  void finishAccumulators(mlir::OpBuilder &b);
  void setTemporaries(mlir::OpBuilder &b, mlir::Value part);
  void emitLoops(mlir::OpBuilder &b);
  void emitParts(mlir::OpBuilder &b);
  void emitRow(mlir::OpBuilder b, mlir::ValueRange rowLoops);
  std::vector<ColumnLoop> getColumnLoops(unsigned phase);
  void emitColumnLoop(mlir::OpBuilder &b, ColumnLoop &loop);
  void emitDividedColumns(mlir::OpBuilder &b, ColumnLoop &loop);
  void emitChunk(mlir::OpBuilder &b, ColumnLoop &loop, mlir::Value column,
                 int64_t width, unsigned accumulator);
  void startReductions(mlir::OpBuilder &b, ColumnLoop &loop, unsigned unroll);
  void emitVectors(mlir::OpBuilder &b, ColumnLoop &loop, mlir::Value from,
                   mlir::Value to, unsigned unroll);
  void accumulate(ColumnReduction &reduction, mlir::OpBuilder &b, mlir::Value x,
                  int64_t width, unsigned accumulator);
  void finishReduction(mlir::OpBuilder &b, ColumnReduction &reduction);
  void addToMemory(mlir::OpBuilder &b, Statement &statement, mlir::Value value);
  void scatter(Statement &statement);

  mlir::Location loc;
  const Nest &nest;
  const KernelArguments &arguments;
  ScratchLayout &layout;
  unsigned lanes;
  int64_t leastWork;
  NestDivision division;
  Evaluator evaluator;
  /// The buffers that hold the sums of accumulations during the nest, and those
  /// of them that are in scratch.
  llvm::DenseMap<Statement *, mlir::Value> accumulators;
  llvm::MapVector<Statement *, PartBuffer> ownSums;
  llvm::MapVector<Statement *, PartBuffer> temporaries;
  /// The range of the current part: iterations of the row loop, or divided
  /// columns.
  mlir::Value begin, end;
  /// Emit only the columns that do not fill a vector.
  bool isTail = false;
};

} // namespace dtc

#endif // DTC_LIB_TARGET_CPU_ROWLOOPSEMITTER_H
