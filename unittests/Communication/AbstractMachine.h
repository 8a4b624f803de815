//===- AbstractMachine.h - runs event lists as engines might ----*- C++ -*-===//
//
// All ranks of a program on an imagined machine, where data are hashes of what
// they were computed from. Ranks take turns at random, and transfers happen at
// any moment that MPI allows, or one by one as on the stream of a GPU. Shares
// the data structure of the proof, and none of its code.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_SCHEDULE_ABSTRACTMACHINE_H
#define DTC_UNITTESTS_SCHEDULE_ABSTRACTMACHINE_H

#include "dtc/Communication/Communication.h"

namespace dtc::test {

struct MachineResult {
  /// Why a rank hangs or MPI stops; empty if all come to their ends with
  /// nothing left in flight.
  std::string failure;
  /// Contents of all buffers of all ranks.
  std::vector<uint64_t> contents;
};

/// Runs a step once, in an order that follows from the seed: as MPI does if it
/// is even, else as a stream does.
MachineResult runOnce(const CommunicationSystem &system, uint64_t seed);

} // namespace dtc::test

#endif // DTC_UNITTESTS_SCHEDULE_ABSTRACTMACHINE_H
