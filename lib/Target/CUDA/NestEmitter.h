//===- NestEmitter.h - the code of a nest's threads -------------*- C++ -*-===//
//
// One function for each mapping of NestSchedule.h. A thread without a row or
// chunk computes the first one, and does not store it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TARGET_CUDA_NESTEMITTER_H
#define DTC_LIB_TARGET_CUDA_NESTEMITTER_H

#include "DeviceBuilder.h"
#include "NestEmit.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "dtc/Lowering/RowLoops/Evaluate.h"
#include <map>

namespace dtc {

/// The element type in which a statement's sums are computed.
inline mlir::Type getSumType(const Statement &statement) {
  return getWrittenType(statement).getElementType();
}

/// A vector of `lanes` elements, or a scalar for one lane.
inline mlir::Type withLanes(mlir::Type element, int64_t lanes) {
  return lanes == 1 ? element : mlir::VectorType::get(lanes, element);
}

/// The part of a sum over rows that a thread computes: a value for each of its
/// chunks, or one value if columns are summed, too.
struct RowSum {
  Statement *statement;
  const ColumnWork *work;
  bool isTotal;
  bool isInMemory = false; ///< too many chunks for registers
  llvm::SmallVector<mlir::Value> values;
};

class NestEmitter {
public:
  NestEmitter(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
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
  llvm::SmallVector<mlir::Value> getRow(mlir::OpBuilder &b, mlir::Value kept,
                                        mlir::Value reduced);
  void decode(mlir::OpBuilder &b, mlir::Value number,
              llvm::ArrayRef<unsigned> loops,
              llvm::MutableArrayRef<mlir::Value> rowLoops);
  void forEachReducedRow(
      mlir::OpBuilder &b, mlir::Value slice,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, mlir::Value)>
          body);
  void enterRow(mlir::ValueRange rowLoops);
  void enterPhase(mlir::OpBuilder &b, unsigned phase);
  void emitPhase(mlir::OpBuilder &b, unsigned phase, mlir::Value rowIsValid,
                 std::optional<OnlineSum> online);
  bool needsBarrier(unsigned phase) const;

  // Chunks of columns.
  struct Chunk {
    mlir::Value number;
    mlir::Value isValid; ///< null if always
    Scope *kept = nullptr;
  };
  mlir::Value enterChunk(mlir::OpBuilder &b, const ColumnWork &work,
                         const Chunk &chunk);
  void emitChunk(mlir::OpBuilder &b, const ColumnWork &work, const Chunk &chunk,
                 mlir::Value rowIsValid,
                 llvm::MutableArrayRef<mlir::Value> reductions, unsigned part);
  void forEachChunk(
      mlir::OpBuilder &b, const ColumnWork &work,
      llvm::SmallVectorImpl<mlir::Value> &carried,
      llvm::function_ref<void(mlir::OpBuilder &, const Chunk &, unsigned)>
          body);
  mlir::Value rescale(mlir::OpBuilder &b, mlir::Value sum, mlir::Value from,
                      mlir::Value to);
  void addOnline(mlir::OpBuilder &b, const ColumnWork &work, const Chunk &chunk,
                 const OnlineSum &online, mlir::Value &max, mlir::Value &sum);
  mlir::Value combineValid(mlir::OpBuilder &b, Statement &statement,
                           mlir::Value sum, mlir::Value x, mlir::Value isValid);
  void finishReductions(mlir::OpBuilder &b,
                        llvm::ArrayRef<Statement *> statements,
                        llvm::MutableArrayRef<mlir::Value> values,
                        mlir::Value rowIsValid);

  // Sums over rows.
  void createSums(mlir::OpBuilder &b);
  void resetMemory(mlir::OpBuilder &b, mlir::Value slice, mlir::Value isValid);
  int64_t sizeOf(const RowSum &sum) const;
  mlir::Value startOf(mlir::OpBuilder &b, const RowSum &sum, mlir::Value slice);
  void storeSum(mlir::OpBuilder &b, const RowSum &sum, mlir::Value slice,
                mlir::Value x);
  void addToMemory(mlir::OpBuilder &b, RowSum &sum, mlir::Value column,
                   mlir::Value x, mlir::Value isValid);
  void storeSums(mlir::OpBuilder &b, mlir::Value kept, mlir::Value slice,
                 mlir::Value isValid, llvm::ArrayRef<mlir::Value> chunkNumbers);
  llvm::SmallVector<mlir::Value> takeSums() const;
  void setSums(mlir::ValueRange values);

  mlir::Location loc;
  const RowLoopsPlan &plan;
  const Nest &nest;
  const NestSchedule &schedule;
  const SumBuffers &sumBuffers;
  DeviceBuilder code;
  Evaluator evaluator;
  mlir::OpBuilder &top;

  llvm::SmallVector<RowSum> sums;
  mlir::Value member;       ///< number of the thread in its team
  mlir::Value currentSlice; ///< index of the slice of reduced rows
  /// The values that are known of each chunk of a row, by the number of columns
  /// of the work and the index of the thread's chunk.
  std::map<std::pair<int64_t, unsigned>, Scope> kept;
};

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_NESTEMITTER_H
