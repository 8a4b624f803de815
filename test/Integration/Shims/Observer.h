//===- Observer.h - what a preloaded library sees of a training -*- C++ -*-===//
//
// libdtc-observer.so is preloaded into the ranks of a training program. It
// counts what they do in their steps, through dtcrt_step_hook, and at exit each
// rank appends one line of JSON to the file that DTC_OBSERVE names:
//
//   {"rank": 0, "steps": 3, "vm_hwm": 39845888, "allocations": [0, 0, 0],
//    "communication": [{"communicator": "dtc.dp", "members": 4,
//                       "call": "MPI_Allreduce", "peer": -1, "count": 6,
//                       "bytes": 4096}]}
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TEST_INTEGRATION_SHIMS_OBSERVER_H
#define DTC_TEST_INTEGRATION_SHIMS_OBSERVER_H

#include <cstdint>
#include <cstdio>

namespace dtc::observer {

/// Whether the program is in a step. Only then anything is counted.
bool inStep();

/// Allocations of the program so far, those of MPI excepted.
int64_t countAllocations();
/// Loads what counting needs, so that it does not allocate later.
void prepareAllocations();

/// Writes the value of "communication".
void writeCommunication(FILE *file);

} // namespace dtc::observer

#endif // DTC_TEST_INTEGRATION_SHIMS_OBSERVER_H
