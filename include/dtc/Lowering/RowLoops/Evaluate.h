//===- Evaluate.h - elements of tensors as vectors --------------*- C++ -*-===//
//
// Computes elements of tensors at affine positions of a nest's loops, for
// several adjacent columns at once.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_ROWLOOPS_EVALUATE_H
#define DTC_LOWERING_ROWLOOPS_EVALUATE_H

#include "dtc/Lowering/RowLoops/Buffers.h"
#include "dtc/Lowering/RowLoops/Plan.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// A place in the code, with the values that are available there.
struct Scope {
  std::optional<mlir::OpBuilder> builder;
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, mlir::Value> values;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> indices;
};

class Evaluator {
public:
  Evaluator(mlir::Location loc, const RowLoopsPlan &plan, const Nest &nest,
            unsigned nestIndex, const KernelBuffers &buffers)
      : loc(loc), plan(plan), nest(nest), nestIndex(nestIndex),
        buffers(buffers) {}

  // The places where code is inserted: the nest's scope is before its loops,
  // the row's scope before the current column loop. Values of a chunk of
  // columns are dropped when the next chunk begins, unless the caller keeps
  // their scope. Then a later phase reuses registers that an earlier phase has
  // loaded or computed.
  void enterNest(mlir::OpBuilder builder);
  void enterRow(mlir::ValueRange rowLoops);
  void enterPhase(unsigned phase, mlir::OpBuilder builder);
  void enterChunk(mlir::OpBuilder builder, mlir::Value column, int64_t width,
                  Scope *kept = nullptr);

  /// Registers the result of a row's reduction.
  void setRowValue(Statement *reduction, mlir::Value value) {
    rowValues[reduction] = value;
  }
  /// Drops the result of a row's reduction, and the record that it was read.
  void forgetRowValue(Statement *reduction);
  /// Registers the scratch row of a temporary.
  void setTemporary(Statement *statement, mlir::Value memref) {
    temporaries[statement] = memref;
  }
  mlir::Value getTemporary(Statement *statement) const {
    return temporaries.lookup(statement);
  }

  /// The element at a position; a vector if it varies with the column.
  mlir::Value evaluate(mlir::Value tensor, mlir::AffineMap position);
  /// Computes a statement for one iteration of its loops: an element of its
  /// result, or for a reduction the operand that the accumulator is combined
  /// with.
  mlir::Value evaluateStatement(const Statement &statement,
                                mlir::AffineMap position);

  /// Load or store the chunk's columns in a flat buffer, `start` elements
  /// further on. `start` is a multiple of `startStep`.
  mlir::Value load(mlir::Value memref, const FlatIndex &index,
                   mlir::Value start = {}, int64_t startStep = 1);
  void store(mlir::Value value, mlir::Value memref, const FlatIndex &index,
             mlir::Value start = {}, int64_t startStep = 1);

  /// Adds values to row `row` of a table. `index` is the place in row 0, and
  /// each row has `rowElements` elements.
  void addScattered(mlir::Value memref, mlir::Value value, mlir::Value row,
                    const FlatIndex &index, int64_t rowElements);

  /// A vector of the chunk's width; scalars are broadcast.
  mlir::Value widen(mlir::Value value);
  /// The buffer of a statement's result.
  mlir::Value getBuffer(const Statement &statement) const;
  /// The flat index of a column in a row of scratch.
  FlatIndex getColumnIndex() const;

private:
  enum class Level { Nest, Row, Column };
  Level getLevel(mlir::AffineMap position) const;
  Scope &getScope(Level level);

  mlir::Value compute(mlir::Value tensor, mlir::AffineMap position);
  mlir::Value fromMemory(mlir::Value tensor, mlir::Value value);
  mlir::Value loadTensor(mlir::Value tensor, mlir::Value memref,
                         mlir::AffineMap position);
  mlir::Value evaluateScalar(mlir::Value value, const Statement &statement,
                             mlir::AffineMap position,
                             llvm::DenseMap<mlir::Value, mlir::Value> &known);
  mlir::Value lookUp(mlir::Operation *extract, const Statement &statement,
                     mlir::AffineMap position,
                     llvm::DenseMap<mlir::Value, mlir::Value> &known);
  mlir::Value getLoopNumber(mlir::AffineExpr expr, mlir::Type type);
  mlir::Value getFlatIndex(const FlatIndex &index, bool withColumn);
  mlir::Value getLoop(unsigned loop);

  llvm::MaybeAlign getAlignment(mlir::Value memref, const FlatIndex &index,
                                bool hasStart, int64_t startStep) const;

  mlir::OpBuilder &getBuilder() { return *getScope(level).builder; }
  int64_t getWidth() const { return level == Level::Column ? width : 1; }

  mlir::Location loc;
  const RowLoopsPlan &plan;
  const Nest &nest;
  unsigned nestIndex;
  const KernelBuffers &buffers;

  Scope nestScope, rowScope, ownChunk;
  Scope *chunkScope = &ownChunk;
  Level level = Level::Column;
  unsigned phase = 0;
  llvm::SmallVector<mlir::Value> rowLoops;
  mlir::Value column;
  int64_t width = 1;
  llvm::DenseMap<Statement *, mlir::Value> rowValues, temporaries;
};

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_EVALUATE_H
