//===- BatchLayouts.h - where the samples of a batch are --------*- C++ -*-===//

#ifndef DTC_PROPAGATION_BATCHLAYOUTS_H
#define DTC_PROPAGATION_BATCHLAYOUTS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// The size of the first dimension of a function's data; 0 if it has none.
int64_t getExportedBatch(mlir::func::FuncOp forward);

/// Gives all values layouts that split the batch into so many samples, on a
/// mesh whose time axis has that size. What mixes samples is behind a reshard,
/// or partial.
llvm::LogicalResult splitIntoSamples(mlir::func::FuncOp forward, int64_t batch);

/// By value of a function, which stays as it is, the layout that this would
/// give it. Lacks values of ops that it would replace, and all if there is no
/// batch of two samples or more, or one that cannot be followed.
llvm::DenseMap<mlir::Value, LayoutAttr> findSamples(mlir::func::FuncOp forward);

} // namespace dtc

#endif // DTC_PROPAGATION_BATCHLAYOUTS_H
