//===- BatchLayouts.h - layouts of the samples of a batch -------*- C++ -*-===//

#ifndef DTC_PROPAGATION_BATCHLAYOUTS_H
#define DTC_PROPAGATION_BATCHLAYOUTS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// The size of dimension 0 of a function's data inputs; 0 if it has none.
int64_t getExportedBatch(mlir::func::FuncOp forward);

/// Gives all values layouts that split the batch into `batch` samples, on a
/// mesh whose time axis has that size. An op that mixes samples reads a
/// reshard, or its result is partial. Fails if an op's rule does not allow it.
llvm::LogicalResult splitIntoSamples(mlir::func::FuncOp forward, int64_t batch);

/// Returns the layout that splitIntoSamples would give to each value, without
/// changing the function. Values of ops that it would replace are missing. The
/// map is empty if the batch has fewer than two samples or cannot be followed.
llvm::DenseMap<mlir::Value, LayoutAttr> findSamples(mlir::func::FuncOp forward);

} // namespace dtc

#endif // DTC_PROPAGATION_BATCHLAYOUTS_H
