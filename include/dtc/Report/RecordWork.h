//===- RecordWork.h - what a program is told of its work --------*- C++ -*-===//
//
// FLOPs and bytes, as the report counts them, for a program that shows how
// fast it is (docs/Metrics.md).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_RECORDWORK_H
#define DTC_REPORT_RECORDWORK_H

#include "dtc/Plan/Skeleton.h"
#include <map>
#include <string>

namespace dtc {

/// FLOPs that a model asks of all ranks in a step, as the field counts them
/// (Chowdhery et al., arXiv 2204.02311): three times those of the products of
/// the forward pass. By what the products are computed in: "bf16".
std::map<std::string, double>
countModelFlops(llvm::ArrayRef<mlir::ModuleOp> stages);

/// Marks launches and library calls of planned stages with `dtc.work`, and the
/// module with `dtc.model_flops`. A module without stages stays as it is.
void recordWork(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_REPORT_RECORDWORK_H
