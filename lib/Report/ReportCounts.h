//===- ReportCounts.h - what the files of the report share ------*- C++ -*-===//
//
// What single ops of plans and their functions cost one rank.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_REPORTCOUNTS_H
#define DTC_LIB_REPORT_REPORTCOUNTS_H

#include "dtc/Report/Report.h"

namespace dtc {

/// FLOPs of one rank in an op or a function, kernels included.
int64_t getFlops(mlir::Operation *root);

/// Adds `times` times the message or collective that an op is, if any.
void addTraffic(mlir::Operation &op, int64_t times, StageReport &report);

/// Fills `report.timeline.communication`, when all else of the report is known.
/// `topology` may be null.
void addCommunication(llvm::ArrayRef<mlir::ModuleOp> stages,
                      const Topology *topology, Report &report);

} // namespace dtc

#endif // DTC_LIB_REPORT_REPORTCOUNTS_H
