//===- NestEmit.h - device functions of a nest ------------------*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CUDA_NESTEMIT_H
#define DTC_LIB_TARGET_CUDA_NESTEMIT_H

#include "NestSchedule.h"
#include "dtc/Lowering/RowLoops/KernelArguments.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dtc {

/// The buffers of sums over rows until parts are added. Each accumulation has a
/// memref of `slices` times its elements, or of its result if there is one
/// slice.
using SumBuffers = llvm::DenseMap<Statement *, mlir::Value>;

/// Emits the code of a thread. The builder is at the end of the device
/// function's entry block, before the terminator. `buffers` are the function's
/// arguments. Handles all mappings except Scatter and Tiles.
void emitNest(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
              const RowLoopsPlan &plan, unsigned nestIndex,
              const NestSchedule &schedule, const KernelBuffers &buffers,
              const SumBuffers &sums);

/// Emits the code of a thread for the mapping Tiles.
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

/// The launches of a nest that adds to rows at indices (Scatter).
struct ScatterLaunches {
  bool needsZeros; ///< of the table, before the launches
  std::vector<DeviceLaunch> launches;
};
ScatterLaunches planScatter(const RowLoopsPlan &plan, unsigned nestIndex,
                            ScratchLayout &layout);

/// Sorts positions by the row of the table that they update, separately for
/// each table. The sort is stable. First runs of this many positions are
/// sorted, then the runs of a table are merged.
struct SortShape {
  SortShape(int64_t tables, int64_t positions);
  int64_t countRuns() const { return llvm::divideCeil(positions, run); }

  int64_t tables, positions;
  int64_t run;
};

/// Emits code for one position that sorts rows and their positions within a
/// run.
void emitSortOfRuns(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
                    const SortShape &shape, mlir::Value rows,
                    mlir::Value sortedRows, mlir::Value sortedPositions,
                    int64_t threads);
/// Emits code for one position that merges the sorted runs.
void emitMergeOfRuns(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
                     const SortShape &shape, mlir::Value runRows,
                     mlir::Value runPositions, mlir::Value sortedRows,
                     mlir::Value sortedPositions, int64_t threads);

/// The threads and blocks that add the parts of a sum.
struct SumLaunch {
  int64_t threads, blocks;
};
SumLaunch getSumLaunch(int64_t elements);

/// Emits code that adds the parts of a sum in order, floats in double
/// precision.
void emitSumOfParts(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function,
                    mlir::Operation *combiner, mlir::Value parts,
                    int64_t slices, mlir::Value result);

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_NESTEMIT_H
