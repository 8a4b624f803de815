//===- OverlapCommunication.h - start communication early -------*- C++ -*-===//
//
// The parts of OverlapCommunication. Each decides the start and the wait for
// transfers of one kind.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_OVERLAP_OVERLAPCOMMUNICATION_H
#define DTC_LIB_SCHEDULE_OVERLAP_OVERLAPCOMMUNICATION_H

#include "dtc/Plan/Skeleton.h"

namespace dtc {

/// Whether a collective may be in flight while the rank computes. It may not if
/// it is over stages, which run different programs, or if it is already
/// asynchronous.
bool canStart(CollectiveOpInterface collective);

/// Starts in the prologue each gather that a step does once and only later runs
/// read. The first reader waits for it. Returns the number of these gathers.
size_t startGathersOfStep(mlir::func::FuncOp plan);

/// Moves receives of all stages before their first use, to positions where the
/// messages of all ranks have one order.
void startReceives(llvm::ArrayRef<mlir::func::FuncOp> plans);

/// Starts reductions that last runs only return, and exchanges of the prologue
/// that the update alone reads. The plan waits for them. `numGathers` are in
/// flight at first.
void startReturnedCollectives(mlir::func::FuncOp plan, size_t numGathers);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_OVERLAP_OVERLAPCOMMUNICATION_H
