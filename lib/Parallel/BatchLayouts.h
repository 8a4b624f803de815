//===- BatchLayouts.h - where the samples of a batch are --------*- C++ -*-===//

#ifndef DTC_LIB_PARALLEL_BATCHLAYOUTS_H
#define DTC_LIB_PARALLEL_BATCHLAYOUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// The size of the first dimension of a function's data; 0 if it has none.
int64_t getExportedBatch(mlir::func::FuncOp forward);

/// Gives all values layouts that split the batch into so many samples, on a
/// mesh whose time axis has that size. What mixes samples is behind a reshard,
/// or partial.
llvm::LogicalResult splitIntoSamples(mlir::func::FuncOp forward, int64_t batch);

} // namespace dtc

#endif // DTC_LIB_PARALLEL_BATCHLAYOUTS_H
