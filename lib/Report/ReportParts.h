//===- ReportParts.h - the parts that a report is made of -------*- C++ -*-===//
//
// Each fills a part of the report.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_REPORTPARTS_H
#define DTC_LIB_REPORT_REPORTPARTS_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Report/Report.h"

namespace dtc {

/// The task that an op of a plan is, if it runs one.
std::optional<Task> getTask(mlir::Operation *op);

/// Fills `report.expected`, when all else of the report is known and there is a
/// topology with its devices' speed, and with that of the link to the host if
/// plans use it. Unless times are measured, the timeline becomes that of the
/// first of these steps. Fails with a diagnostic if plans wait for each other.
mlir::LogicalResult addExpectedTimes(llvm::ArrayRef<mlir::ModuleOp> stages,
                                     const Topology &topology, Report &report);

/// Adds `times` times the message or collective that an op is, if any.
void addTraffic(mlir::Operation &op, int64_t times, StageReport &report);

/// Fills `report.timeline.communication`, when all else of the report is known.
/// `topology` may be null.
void addCommunication(llvm::ArrayRef<mlir::ModuleOp> stages,
                      const Topology *topology, Report &report);

} // namespace dtc

#endif // DTC_LIB_REPORT_REPORTPARTS_H
