//===- NestEmit.h - device functions of a nest ------------------*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CUDA_NESTEMIT_H
#define DTC_LIB_TARGET_CUDA_NESTEMIT_H

#include "NestSchedule.h"
#include "dtc/Lowering/RowLoops/KernelArguments.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dtc {

/// Where sums over rows are kept until their parts are added: for each
/// accumulation a memref of `slices` times its elements, or of its result if
/// there is one slice.
using SumBuffers = llvm::DenseMap<Statement *, mlir::Value>;

/// Emits the code that a thread runs. The builder is at the end of the device
/// function's entry block, before the terminator; `buffers` are its arguments.
/// One class for each mapping but Scatter's and Tiles'.
void emitNest(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
              const RowLoopsPlan &plan, unsigned nestIndex,
              const NestSchedule &schedule, const KernelBuffers &buffers,
              const SumBuffers &sums);

/// The same for a nest whose blocks compute tiles.
void emitTiles(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
               const RowLoopsPlan &plan, unsigned nestIndex,
               const NestSchedule &schedule, const KernelBuffers &buffers);

/// A device function and its grid.
struct DeviceLaunch {
  int64_t blocks, threads;
  std::function<void(mlir::OpBuilder &, mlir::gpu::GPUFuncOp,
                     KernelArguments &)>
      emit;
};

/// The launches of a nest that adds at positions that are data.
struct ScatterLaunches {
  bool needsZeros; ///< the table, before them
  std::vector<DeviceLaunch> launches;
};
ScatterLaunches planScatter(const RowLoopsPlan &plan, unsigned nestIndex,
                            ScratchLayout &layout);

/// Positions that are sorted by the rows that they go to, those of each table
/// by themselves and equal ones in their order. First runs of so many positions
/// are sorted, then all runs of a table are merged.
struct SortShape {
  SortShape(int64_t tables, int64_t positions);
  int64_t countRuns() const { return llvm::divideCeil(positions, run); }

  int64_t tables, positions;
  int64_t run;
};

/// Emits code for one position: the rows in `rows` and their positions are
/// sorted within runs.
void emitSortOfRuns(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
                    const SortShape &shape, mlir::Value rows,
                    mlir::Value sortedRows, mlir::Value sortedPositions,
                    int64_t threads);
/// The same that merges sorted runs.
void emitMergeOfRuns(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
                     const SortShape &shape, mlir::Value runRows,
                     mlir::Value runPositions, mlir::Value sortedRows,
                     mlir::Value sortedPositions, int64_t threads);

/// Threads and blocks that add the parts of a sum.
struct SumLaunch {
  int64_t threads, blocks;
};
SumLaunch getSumLaunch(int64_t elements);

/// Emits code that adds the parts of a sum in their order, in double precision
/// if they are floats.
void emitSumOfParts(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
                    mlir::Operation *combiner, mlir::Value parts,
                    int64_t slices, mlir::Value result);

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_NESTEMIT_H
