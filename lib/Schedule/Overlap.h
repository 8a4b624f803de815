//===- Overlap.h - communication that starts early --------------*- C++ -*-===//
//
// The parts of OverlapCommunication. Each decides for transfers of one kind
// where they start and where they are awaited.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_OVERLAP_H
#define DTC_LIB_SCHEDULE_OVERLAP_H

#include "dtc/Plan/Skeleton.h"

namespace dtc {

/// Slots of what starts in one function and is awaited in another, or in the
/// plan. Of what starts and ends in one function, one parameter's gather and
/// one other collective are in flight at a time, in slots of their own.
class PlanSlots {
public:
  int64_t getNumLeft() const { return endCollectiveSlot - next; }
  int64_t take() { return next++; }

private:
  int64_t next = firstPlanSlot;
};

/// Whether a collective may be in flight while the rank computes: not over
/// stages, whose programs differ, and not one that has been started.
bool canStart(CollectiveOpInterface collective);

/// The prologue starts what the step gathers once and only later runs read; the
/// first of these awaits each gather where it reads it.
void startGathersOfStep(mlir::func::FuncOp plan);

/// Last runs start what they only return; the plan awaits it.
void startReductionsOfLastRuns(mlir::func::FuncOp plan);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_OVERLAP_H
