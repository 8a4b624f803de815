//===- ReportParts.h - the parts of a report --------------------*- C++ -*-===//
//
// Each function fills a part of the report.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_REPORTPARTS_H
#define DTC_LIB_REPORT_REPORTPARTS_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Report/Report.h"

namespace dtc {

/// The task that an op of a plan runs, if any.
std::optional<Task> getTask(mlir::Operation *op);

/// Fills `report.expected`. The rest of the report must be complete, and the
/// topology must have the speed of its devices and, if plans use it, of the
/// link to the host. Unless times are measured, the timeline becomes that of
/// the first expected step. Fails with a diagnostic if plans deadlock.
mlir::LogicalResult addExpectedTimes(llvm::ArrayRef<mlir::ModuleOp> stages,
                                     const Topology &topology, Report &report);

/// Adds the traffic of `times` executions of an op, if it communicates.
void addTraffic(mlir::Operation &op, int64_t times, StageReport &report);

/// Fills `report.timeline.communication`. The rest of the report must be
/// complete. `topology` may be null.
void addCommunication(llvm::ArrayRef<mlir::ModuleOp> stages,
                      const Topology *topology, Report &report);

} // namespace dtc

#endif // DTC_LIB_REPORT_REPORTPARTS_H
