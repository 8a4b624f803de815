//===- OverlapCommunication.h - communication that starts early -*- C++ -*-===//
//
// The parts of OverlapCommunication. Each decides for transfers of one kind
// where they start and where they are awaited.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_OVERLAP_OVERLAPCOMMUNICATION_H
#define DTC_LIB_SCHEDULE_OVERLAP_OVERLAPCOMMUNICATION_H

#include "dtc/Plan/Skeleton.h"

namespace dtc {

/// Whether a collective may be in flight while the rank computes: not over
/// stages, whose programs differ, and not one that has been started.
bool canStart(CollectiveOpInterface collective);

/// The prologue starts what the step gathers once and only later runs read; the
/// first of these awaits each gather where it reads it.
void startGathersOfStep(mlir::func::FuncOp plan);

/// The plans of all stages start receives before they need them, where that
/// puts the messages of all ranks in one order.
void startReceives(llvm::ArrayRef<mlir::func::FuncOp> plans);

/// Last runs start what they only return; the plan awaits it.
void startReductionsOfLastRuns(mlir::func::FuncOp plan);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_OVERLAP_OVERLAPCOMMUNICATION_H
